/**
 * Sessions of browsers: a cookie that says whose it is and until when, signed by this process, or by all
 * that share a secret. Nothing is kept of them but which were logged out: here, and where there is a
 * store in its audit log, where all who answer look. A token that is taken out of the configuration
 * takes its sessions with it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Grant } from '../../config/index.ts';
import { type Clock, hash, type Random } from '../../ground/index.ts';

export interface Session {
  /** Names it to others, and lets nobody in. */
  readonly id: string;
  readonly grant: Grant;
  readonly expiresAt: number;
  /** To be sent with every change, in a header that no other site can set. */
  readonly csrf: string;
}

export const COOKIE = 'fleetq_session';
const LIFETIME_MS = 12 * 3_600_000;
const HASH_SHOWN = 16;
const ENDED_MAX = 10_000;
const COOKIE_LENGTH_MAX = 1_000;
const LOOK_EVERY_MS = 2_000;

/** Which of these requests are in the audit log. */
export type LookUp = (requestIds: readonly string[]) => Promise<readonly string[]>;

interface Claims {
  readonly name: string;
  /** The beginning of the token's hash: another secret under the same name is another token. */
  readonly token: string;
  readonly until: number;
  readonly nonce: string;
}

export class Sessions {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #secret: string;
  readonly #grants: readonly Grant[];
  readonly #ended = new Set<string>();
  /** When it was last asked whether they were ended elsewhere. */
  readonly #lookedMs = new Map<string, number>();

  constructor(
    grants: readonly Grant[],
    secret: string | undefined,
    { clock, random }: { readonly clock: Clock; readonly random: Random },
  ) {
    this.#grants = grants;
    this.#clock = clock;
    this.#random = random;
    this.#secret = secret ?? random.hex(32);
  }

  begin(grant: Grant): { readonly value: string; readonly session: Session } {
    const until = this.#clock.now() + LIFETIME_MS;
    const token = grant.hash.slice(0, HASH_SHOWN);
    const claims: Claims = { name: grant.name, token, until, nonce: this.#random.hex(16) };
    const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
    const value = `${text}.${this.#sign(`session:${text}`)}`;
    return { value, session: this.#sessionOf(value, grant, claims) };
  }

  /** Undefined where it is not ours, is over, was logged out, or its token is no more. */
  find(value: string): Session | undefined {
    const claims = this.#claimsIn(value);
    if (!claims || this.#ended.has(idOf(claims))) return undefined;
    const grant = this.#grants.find(
      ({ name, hash }) => name === claims.name && hash.startsWith(claims.token),
    );
    if (!grant || claims.until <= this.#clock.now()) return undefined;
    return this.#sessionOf(value, grant, claims);
  }

  end({ id }: Pick<Session, 'id'>): void {
    this.#ended.add(id);
    if (this.#ended.size <= ENDED_MAX) return;
    const first = this.#ended.values().next().value!;
    this.#ended.delete(first);
  }

  /**
   * Whether it has ended meanwhile, here or elsewhere. `look` says which of these requests are noted;
   * where it cannot, what is known here counts. Nobody is asked twice within seconds.
   */
  async isOver({ id, expiresAt }: Session, look: LookUp | undefined): Promise<boolean> {
    if (this.#ended.has(id) || expiresAt <= this.#clock.now()) return true;
    const nowMs = this.#clock.monotonicMs();
    if (!look || nowMs < (this.#lookedMs.get(id) ?? Number.NEGATIVE_INFINITY) + LOOK_EVERY_MS) {
      return false;
    }
    this.#lookedMs.delete(id);
    this.#lookedMs.set(id, nowMs);
    if (this.#lookedMs.size > ENDED_MAX) {
      this.#lookedMs.delete(this.#lookedMs.keys().next().value!);
    }
    const found = await look([logoutOf({ id })]).catch(() => []);
    if (found.length > 0) this.end({ id });
    return found.length > 0;
  }

  /** What a value of ours says; one that has anything besides is not ours. */
  #claimsIn(value: string): Claims | undefined {
    if (value.length > COOKIE_LENGTH_MAX) return undefined;
    const [text = '', signature = '', ...rest] = value.split('.');
    if (rest.length > 0 || !isEqual(signature, this.#sign(`session:${text}`))) return undefined;
    return JSON.parse(Buffer.from(text, 'base64url').toString()) as Claims;
  }

  isCsrf(session: Session, given: unknown): boolean {
    return typeof given === 'string' && isEqual(given, session.csrf);
  }

  #sessionOf(value: string, grant: Grant, claims: Claims): Session {
    const csrf = this.#sign(`csrf:${value}`);
    return { id: idOf(claims), grant, expiresAt: claims.until, csrf };
  }

  #sign(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url');
  }
}

/** The request under which its end is noted. */
export function logoutOf({ id }: Pick<Session, 'id'>): string {
  return `logout-${id}`;
}

function idOf({ nonce }: Claims): string {
  return hash(`session:${nonce}`).slice(0, 32);
}

function isEqual(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The session's value in a Cookie header. */
export function cookieOf(header: string | undefined): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const cut = part.indexOf('=');
    if (part.slice(0, cut).trim() === COOKIE) return part.slice(cut + 1).trim();
  }
  return undefined;
}

/** For this site alone, out of reach of scripts; over TLS alone where the browser came by TLS. */
export function setCookie(value: string, isSecure: boolean, maxAgeS = LIFETIME_MS / 1_000): string {
  const rest = `Path=/; Max-Age=${Math.floor(maxAgeS)}; HttpOnly; SameSite=Strict`;
  return `${COOKIE}=${value}; ${rest}${isSecure ? '; Secure' : ''}`;
}

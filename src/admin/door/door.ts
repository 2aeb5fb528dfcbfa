/**
 * Who comes in, and as whom. A process has a door for each place where it answers.
 *
 *   the socket     whoever can open the file is its owner, and may do everything
 *   an address     with a token or a session, as what these are; without tokens only on loopback,
 *                  where everybody on the host is trusted and pages of other sites are not
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Grant, ROLES, type Role } from '../../config/index.ts';
import type { Clock, Random } from '../../ground/index.ts';
import { tell } from '../../telemetry/events.ts';
import { RequestError } from '../problem.ts';
import { type Rate, Rates } from './rates.ts';
import { cookieOf, type Session, Sessions } from './sessions.ts';
import { isLoopback, refuseCrossSite, refuseForeignHost, refuseForwarded } from './sites.ts';
import { grantOf } from './tokens.ts';

export interface Visitor {
  readonly name: string;
  readonly role: Role;
  readonly mayReveal: boolean;
  readonly by: 'socket' | 'loopback' | 'token' | 'session';
  readonly session?: Session | undefined;
}

/** A request, as far as a door looks at it. */
export interface Knock {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly address: string;
}

export interface Limits {
  readonly depthMax: number;
  readonly keysMax: number;
}

export interface Door {
  /** Whether payloads are hidden from those who may not, or do not ask to, reveal them. */
  readonly isMasked: boolean;
  /** A body may come without saying what it is. */
  readonly isTrusting: boolean;
  readonly limits: Limits;
  readonly sessions: Sessions | undefined;
  /** Who it is; undefined where nobody is known by what was sent, which is enough to log in. */
  enter(knock: Knock): Visitor | undefined;
  /** The token's owner. What was tried in vain is counted. */
  recognise(secret: string, address: string): Grant | undefined;
}

export function mayDo(visitor: Visitor, role: Role): boolean {
  return ROLES.indexOf(visitor.role) >= ROLES.indexOf(role);
}

/** Of the process's own owner: nothing that comes from there is hostile. */
export function socketDoor(name: string): Door {
  const owner: Visitor = { name, role: 'admin', mayReveal: true, by: 'socket' };
  return {
    isMasked: false,
    isTrusting: true,
    limits: { depthMax: 200, keysMax: 1_000_000 },
    sessions: undefined,
    enter: () => owner,
    recognise: () => undefined,
  };
}

export interface AddressDoorOptions {
  readonly grants: readonly Grant[];
  readonly hosts?: readonly string[] | undefined;
  readonly sessionSecret?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly rate?: Rate | undefined;
  readonly limits?: Limits | undefined;
}

const URL_LENGTH_MAX = 8_192;
const RATE: Rate = { perSecond: 100, burst: 400 };
/** Of tokens that are none: who guesses is slow. */
const GUESSES: Rate = { perSecond: 1, burst: 20 };
const LIMITS: Limits = { depthMax: 64, keysMax: 10_000 };

export function addressDoor(options: AddressDoorOptions): Door {
  const { grants, hosts = [], clock, random } = options;
  const isOpen = grants.length === 0;
  const rates = new Rates(clock, options.rate ?? RATE);
  const guesses = new Rates(clock, options.rate ?? GUESSES);
  const sessions = isOpen
    ? undefined
    : new Sessions(grants, options.sessionSecret, { clock, random });
  const recognise = (secret: string, address: string) => {
    const grant = grantOf(grants, secret);
    // Whoever is known is let in, however many there are at the same address who guess.
    if (grant) return grant;
    tooMany(guesses.take(address));
    tell('admin.refused', () => ({ address }));
    return undefined;
  };
  return {
    isMasked: !isOpen,
    isTrusting: false,
    limits: options.limits ?? LIMITS,
    sessions,
    recognise,
    enter: (knock) => {
      if (knock.url.length > URL_LENGTH_MAX) {
        const said = `the address is longer than ${URL_LENGTH_MAX} characters`;
        throw new RequestError(414, 'FLEETQ_URL_TOO_LONG', said);
      }
      refuseForeignHost(knock.headers.host, hosts, isOpen);
      refuseCrossSite(knock.headers);
      const visitor = isOpen ? anybody(knock) : knownBy(knock, recognise, sessions!);
      tooMany(rates.take(visitor ? `${visitor.by}:${visitor.name}` : `?${knock.address}`));
      return visitor;
    },
  };
}

/** Without tokens it answers on loopback alone, whoever asks from there. */
function anybody({ address, headers }: Knock): Visitor {
  refuseForwarded(headers);
  if (!isLoopback(address)) throw unknown('this address answers to its own host alone');
  return { name: 'loopback', role: 'admin', mayReveal: true, by: 'loopback' };
}

function knownBy(
  { method, headers, address }: Knock,
  recognise: Door['recognise'],
  sessions: Sessions,
): Visitor | undefined {
  const { authorization, cookie } = headers;
  if (authorization !== undefined) {
    const secret = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    const grant = secret === undefined ? undefined : recognise(secret, address);
    if (!grant) throw unknown('the token is not known here');
    return { ...grant, by: 'token' };
  }
  const value = cookieOf(cookie);
  const session = value === undefined ? undefined : sessions.find(value);
  if (!session) return undefined;
  if (method !== 'GET' && !sessions.isCsrf(session, headers['x-fleetq-csrf'])) {
    throw new RequestError(
      403,
      'FLEETQ_CROSS_SITE',
      'a change by a session needs the header x-fleetq-csrf',
      'send what GET /api/v1/session answers as `csrf`',
    );
  }
  return { ...session.grant, by: 'session', session };
}

export function unknown(detail: string): RequestError {
  return new RequestError(
    401,
    'FLEETQ_UNAUTHENTICATED',
    detail,
    'send `Authorization: Bearer …` with a token; make one with: fleetq token new',
  );
}

function tooMany(waitMs: number | undefined): void {
  if (waitMs === undefined) return;
  throw new RequestError(
    429,
    'FLEETQ_TOO_MANY_REQUESTS',
    `too many requests: the next is answered in ${waitMs} ms`,
    undefined,
    { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  );
}

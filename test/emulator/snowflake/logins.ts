/** Who may log in, and by what: password, key pair, token; and the tokens that sessions live by. */
import { createHash, createPublicKey, randomBytes, verify } from 'node:crypto';
import { SnowflakeError } from './errors.ts';
import type { House } from './house.ts';
import { Session } from './session.ts';

export interface Account {
  readonly user: string;
  readonly password: string;
  /** PEM. Who signs with the other half may log in. */
  readonly publicKey?: string;
  /** For OAUTH and PROGRAMMATIC_ACCESS_TOKEN. */
  readonly accessToken?: string;
}

interface LoginData {
  readonly LOGIN_NAME?: string;
  readonly PASSWORD?: string;
  readonly TOKEN?: string;
  readonly AUTHENTICATOR?: string;
  readonly SESSION_PARAMETERS?: Readonly<Record<string, unknown>>;
}

export interface Place {
  readonly database: string;
  readonly schema: string;
  readonly warehouse: string;
  readonly role: string;
}

const newToken = () => randomBytes(24).toString('base64url');
const upper = (text: string | undefined, otherwise: string) => (text || otherwise).toUpperCase();

function refused(code = '390100'): SnowflakeError {
  return new SnowflakeError(code, '08001', 'Incorrect username or password was specified.');
}

export class Logins {
  readonly #house: House;
  readonly #account: Account;
  readonly #sessions = new Map<string, Session>();
  readonly #masters = new Map<string, Session>();
  readonly #expired = new Map<string, Session>();
  #count = 0;

  constructor(house: House, account: Account) {
    this.#house = house;
    this.#account = account;
  }

  login(data: LoginData, place: Partial<Place>): Session {
    this.#judge(data);
    const session = new Session(this.#house, {
      id: ++this.#count,
      user: upper(data.LOGIN_NAME, this.#account.user),
      token: newToken(),
      masterToken: newToken(),
      database: upper(place.database, 'FLEETQ'),
      warehouse: upper(place.warehouse, 'EMULATED'),
      role: upper(place.role, 'PUBLIC'),
    });
    if (place.schema) session.schema = place.schema.toLowerCase();
    for (const [name, value] of Object.entries(data.SESSION_PARAMETERS ?? {})) {
      // The driver sends parameters of its own; those of the account are kept.
      try {
        session.set(name.toUpperCase(), String(value));
      } catch {
        // Not one that the emulator gives a meaning.
      }
    }
    this.#sessions.set(session.token, session);
    this.#masters.set(session.masterToken, session);
    return session;
  }

  #judge(data: LoginData): void {
    const { user, password, publicKey, accessToken } = this.#account;
    switch (data.AUTHENTICATOR) {
      case 'SNOWFLAKE_JWT':
        if (publicKey === undefined || !isSigned(data.TOKEN ?? '', publicKey, user)) {
          throw new SnowflakeError('390144', '08001', 'JWT token is invalid.');
        }
        return;
      case 'OAUTH':
      case 'PROGRAMMATIC_ACCESS_TOKEN':
        if (accessToken === undefined || data.TOKEN !== accessToken) throw refused('390303');
        return;
      default:
        if (data.LOGIN_NAME?.toUpperCase() !== user.toUpperCase()) throw refused();
        if (data.PASSWORD !== password) throw refused();
    }
  }

  /** The session of a token; or why there is none. */
  sessionOf(token: string): Session {
    const session = this.#sessions.get(token);
    if (session !== undefined) return session;
    if (this.#expired.has(token)) {
      throw new SnowflakeError('390112', '08001', 'Your session has expired. Please login again.');
    }
    throw new SnowflakeError('390111', '08001', 'Session no longer exists. New login required.');
  }

  renew(masterToken: string): Session {
    const session = this.#masters.get(masterToken);
    if (session === undefined) {
      throw new SnowflakeError('390114', '08001', 'Authentication token has expired.');
    }
    this.#sessions.delete(session.token);
    session.token = newToken();
    this.#sessions.set(session.token, session);
    return session;
  }

  /** From now on its token is too old, and must be renewed. */
  expire(session: Session): void {
    this.#sessions.delete(session.token);
    this.#expired.set(session.token, session);
  }

  expireAll(): void {
    for (const session of this.sessions) this.expire(session);
  }

  /** Renewals are refused, too: a new login is needed. */
  expireMasters(): void {
    this.expireAll();
    this.#masters.clear();
  }

  /** The account has forgotten them. */
  async end(sessions: readonly Session[]): Promise<void> {
    for (const session of sessions) {
      this.#sessions.delete(session.token);
      this.#expired.delete(session.token);
      this.#masters.delete(session.masterToken);
    }
    await Promise.all(sessions.map((session) => session.close()));
  }

  /** Rolls back transactions that nobody has used for so long. */
  async reap(idleMs: number): Promise<void> {
    const isIdle = ({ transaction }: Session) =>
      transaction !== undefined && performance.now() - transaction.lastUsedMs >= idleMs;
    const rollBack = async (session: Session) => {
      if (isIdle(session)) await session.end('rollback').catch(() => undefined);
    };
    const idle = this.all.filter(isIdle);
    await Promise.all(idle.map((session) => session.alone(() => rollBack(session))));
  }

  get sessions(): Session[] {
    return [...this.#sessions.values()];
  }

  /** Those whose tokens have expired as well. */
  get all(): Session[] {
    return [
      ...new Set([
        ...this.#sessions.values(),
        ...this.#expired.values(),
        ...this.#masters.values(),
      ]),
    ];
  }
}

function partOf(token: string, index: number): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString());
}

/** RS256, of this user, with the fingerprint of this key. */
function isSigned(token: string, publicKey: string, user: string): boolean {
  try {
    const [head, body, signature] = token.split('.');
    const key = createPublicKey(publicKey);
    const der = key.export({ type: 'spki', format: 'der' });
    const print = `SHA256:${createHash('sha256').update(der).digest('base64')}`;
    const { iss, sub } = partOf(token, 1) as { iss: string; sub: string };
    const isOurs =
      iss === `${sub}.${print}` && sub.toUpperCase().endsWith(`.${user.toUpperCase()}`);
    const signed = Buffer.from(`${head}.${body}`);
    return isOurs && verify('RSA-SHA256', signed, key, Buffer.from(signature ?? '', 'base64url'));
  } catch {
    return false;
  }
}

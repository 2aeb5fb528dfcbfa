/**
 * Tokens as they are configured: a name, a role and the hash of a secret that nobody but its owner has.
 *
 *   alice:operate:5e88…   bob:admin+reveal:b7a8…
 */
import { show } from '../ground/index.ts';
import { ConfigError } from './errors.ts';

/** Each may do what the one before may. */
export const ROLES = ['read', 'operate', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export interface Grant {
  readonly name: string;
  readonly role: Role;
  /** May look at payloads, results and errors where these are masked. */
  readonly mayReveal: boolean;
  /** SHA-256 of the secret, in lower-case hex. */
  readonly hash: string;
}

const GRANT_COUNT_MAX = 1_000;
const GRANT = /^([\w.@-]{1,100}):(read|operate|admin)(\+reveal)?:([0-9a-f]{64})$/;

/** Reads `tokens`, a text with commas or a list of texts; answers it as one text. */
export function readTokens(value: unknown, where: string): string {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  const grants = items.map((item) => (typeof item === 'string' ? item.trim() : item));
  const wrong = grants.findIndex((item) => typeof item !== 'string' || !GRANT.test(item));
  if (grants.length === 0 || grants.length > GRANT_COUNT_MAX || wrong >= 0) {
    // What is wrong is told without what it says: it may be a secret in the wrong place.
    throw new ConfigError(
      `${where} must be 1 to ${GRANT_COUNT_MAX} tokens like name:role:hash` +
        (wrong >= 0 ? `, and number ${wrong + 1} is not` : `, got ${show(typeof value)}`),
      { hint: 'make one with: fleetq token new --name alice --role operate' },
    );
  }
  const names = grants.map((item) => (item as string).split(':')[0]!);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ConfigError(`${where} has two tokens called ${show(twice)}`);
  return grants.join(',');
}

export function grantsOf(tokens: string | undefined): Grant[] {
  return (tokens ?? '')
    .split(',')
    .filter((item) => item !== '')
    .map((item) => {
      const [, name, role, reveal, hash] = GRANT.exec(item) ?? [];
      if (name === undefined || hash === undefined) throw new ConfigError('tokens are malformed');
      return { name, role: role as Role, mayReveal: reveal !== undefined, hash };
    });
}

/** A grant as the configuration has it. */
export function showGrant({ name, role, mayReveal, hash }: Grant): string {
  return `${name}:${role}${mayReveal ? '+reveal' : ''}:${hash}`;
}

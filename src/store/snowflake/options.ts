/**
 * How to reach an account. Everything but secrets may stand in the address:
 *
 *   snowflake://USER@ACCOUNT/DATABASE/SCHEMA?warehouse=W&role=R&key=/path/to/rsa_key.p8
 *
 * `key` is the file of an RSA key, `passphrase` that of what it is sealed by, `token` that of an OAuth or
 * programmatic access token; a password is for tests. `tables` is hybrid or standard; left out, the
 * account is asked once, when it is migrated.
 */
import { show } from '../../ground/index.ts';
import { StoreOptionsError } from '../errors.ts';
import type { StoreOptions } from '../options.ts';
import type { TableKind } from './migrate.ts';

export type SnowflakeAuth =
  | { readonly by: 'key'; readonly file: string; readonly passphraseFile: string | undefined }
  | { readonly by: 'oauth' | 'pat'; readonly file: string }
  | { readonly by: 'password'; readonly password: string };

export interface SnowflakeWay {
  readonly account: string;
  readonly user: string;
  readonly database: string;
  readonly schema: string;
  readonly warehouse: string | undefined;
  readonly role: string | undefined;
  readonly auth: SnowflakeAuth;
  /** Where the account answers, if not at its usual address. */
  readonly accessUrl: string | undefined;
  readonly tables: TableKind | undefined;
  readonly deadlineMs: number;
  readonly sessionCountMax: number;
}

const WANTED = 'snowflake://user@account/database/schema?warehouse=…&key=/path/to/key.p8';
/** Less than a third of the silence after which a pod is taken for dead. */
const DEADLINE_MS = 18_000;
const DEADLINE_MS_MIN = 100;
const SESSION_COUNT = 8;
const WORDS = [
  'warehouse',
  'role',
  'key',
  'passphrase',
  'token',
  'auth',
  'tables',
  'access',
] as const;

export function readSnowflakeWay(address: string, options: StoreOptions): SnowflakeWay {
  if (!/^snowflake:\/\//i.test(address) || !URL.canParse(address)) {
    throw new StoreOptionsError(`the address of the store is not ${WANTED}`);
  }
  const url = new URL(address);
  const [database, schema, ...rest] = url.pathname.split('/').filter((part) => part !== '');
  const user = decodeURIComponent(url.username);
  if (user === '' || url.host === '' || !database || !schema || rest.length > 0) {
    throw new StoreOptionsError(
      'the address of the store must name user, account, database and schema',
      { hint: WANTED },
    );
  }
  refuseUnknown(url);
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  if (!(deadlineMs >= DEADLINE_MS_MIN)) {
    throw new StoreOptionsError(
      `deadlineMs must be at least ${DEADLINE_MS_MIN}, got ${deadlineMs}`,
    );
  }
  const word = (name: (typeof WORDS)[number]) => url.searchParams.get(name) ?? undefined;
  return {
    account: url.host,
    user,
    database: decodeURIComponent(database),
    schema: decodeURIComponent(schema),
    warehouse: word('warehouse'),
    role: word('role'),
    auth: readAuth(word, decodeURIComponent(url.password)),
    accessUrl: word('access'),
    tables: readTables(word('tables')),
    deadlineMs,
    sessionCountMax: options.poolSize ?? SESSION_COUNT,
  };
}

function refuseUnknown(url: URL): void {
  const known: readonly string[] = WORDS;
  const unknown = [...url.searchParams.keys()].find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new StoreOptionsError(`the address of the store knows no ${show(unknown)}`, {
    hint: `it knows ${WORDS.join(', ')}`,
  });
}

function readAuth(
  word: (name: 'key' | 'passphrase' | 'token' | 'auth') => string | undefined,
  password: string,
): SnowflakeAuth {
  const [key, token, auth] = [word('key'), word('token'), word('auth') ?? 'oauth'];
  const given = [key !== undefined, token !== undefined, password !== ''].filter(Boolean);
  if (given.length !== 1) {
    throw new StoreOptionsError('the address of the store must have one of key and token', {
      hint: 'key=/path/to/rsa_key.p8 for a service user; token=/path/to/file for OAuth',
    });
  }
  const passphraseFile = word('passphrase');
  if (passphraseFile !== undefined && key === undefined) {
    throw new StoreOptionsError('passphrase goes with key alone in the address of the store');
  }
  if (key !== undefined) return { by: 'key', file: key, passphraseFile };
  if (token === undefined) return { by: 'password', password };
  if (auth !== 'oauth' && auth !== 'pat') {
    throw new StoreOptionsError(`auth must be oauth or pat, got ${show(auth)}`);
  }
  return { by: auth, file: token };
}

function readTables(value: string | undefined): TableKind | undefined {
  if (value === undefined || value === 'hybrid' || value === 'standard') return value;
  throw new StoreOptionsError(`tables must be hybrid or standard, got ${show(value)}`);
}

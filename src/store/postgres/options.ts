/**
 * How to reach a Postgres. Everything may stand in the address:
 * postgres://user@host/database?pooled=true&schema=fleet&claim=cas; what belongs to the driver
 * (sslmode, host, …) is left in it.
 */
import { show } from '../../ground/index.ts';
import { StoreOptionsError } from '../errors.ts';
import type { StoreOptions } from '../options.ts';

/** `cas` for servers whose SKIP LOCKED cannot be trusted: rivals pick different rows by a hash. */
export type ClaimMode = NonNullable<StoreOptions['claimMode']>;

export interface PostgresWay {
  /** Without our own words. */
  readonly url: string;
  /** The same for each of the servers, where there are several: one of them takes writes. */
  readonly urls: readonly string[];
  readonly isPooled: boolean;
  /** As whom the server shows the connections. */
  readonly applicationName: string;
  /** Where to listen for hints; undefined: on the way itself, unless a pooler is on it. */
  readonly listenUrl: string | undefined;
  readonly claimMode: ClaimMode;
  readonly schema: string | undefined;
  readonly connectionCountMax: number;
  readonly deadlineMs: number;
  /** Nothing is lost where the server goes on after nobody listens any more. */
  readonly toleratesLate: boolean;
  /** What the server is told: shorter, so that it gives up before nobody listens any more. */
  readonly serverMs: number;
}

const DEADLINE_MS = 10_000;
const DEADLINE_MS_MIN = 100;
const CONNECTION_COUNT = 8;
/** Of the time that a call has, its statement has this share on the server. */
export const SERVER_SHARE = 0.8;

export function readPostgresWay(address: string, options: StoreOptions): PostgresWay {
  const { url, urls, words } = readAddress(address);
  const isPooled = options.isPooled ?? readFlag(words.get('pooled'), 'pooled');
  const claimMode = options.claimMode ?? readClaimMode(words.get('claim'));
  const schema = words.get('schema');
  if (schema !== undefined && isPooled) {
    throw new StoreOptionsError('a schema cannot be chosen through a pooler', {
      hint: 'give the role a search_path: alter role … set search_path = …',
    });
  }
  if (schema !== undefined && !/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new StoreOptionsError(`schema must be a lower-case name, got ${show(schema)}`);
  }
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  if (!(deadlineMs >= DEADLINE_MS_MIN)) {
    throw new StoreOptionsError(
      `deadlineMs must be at least ${DEADLINE_MS_MIN}, got ${deadlineMs}`,
    );
  }
  return {
    url,
    urls,
    isPooled,
    applicationName: 'fleetq',
    listenUrl: options.listenUrl === undefined ? undefined : readAddress(options.listenUrl).url,
    claimMode,
    schema,
    connectionCountMax: options.poolSize ?? CONNECTION_COUNT,
    deadlineMs,
    toleratesLate: options.toleratesLate ?? false,
    serverMs: Math.floor(deadlineMs * SERVER_SHARE),
  };
}

const OUR_WORDS = ['pooled', 'claim', 'schema'] as const;

/** As libpq has it: several hosts with commas between them, and which of them is wanted. */
const SEVERAL = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/is;
const HOSTS_MAX = 16;
const TARGETS = ['read-write', 'primary'];

function readAddress(text: string): Address {
  const [, before = '', hosts = '', after = ''] = SEVERAL.exec(text) ?? [];
  const names = hosts.split(',');
  if (names.length > HOSTS_MAX || (names.length > 1 && names.includes(''))) {
    throw new StoreOptionsError(
      `the address of the store names up to ${HOSTS_MAX} hosts with commas between them, ` +
        `like postgres://user@one:5432,two:5432/database; got ${show(hosts)}`,
    );
  }
  const read = names.map((name) => readOne(`${before}${name}${after}`));
  return { ...read[0]!, urls: read.map(({ url }) => url) };
}

interface Address {
  readonly url: string;
  readonly urls: readonly string[];
  readonly words: Map<string, string>;
}

function readOne(text: string): Omit<Address, 'urls'> {
  if (!/^postgres(ql)?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new StoreOptionsError('the address of the store is not postgres://user@host/database');
  }
  const url = new URL(text);
  const target = url.searchParams.get('target_session_attrs');
  if (target !== null && !TARGETS.includes(target)) {
    throw new StoreOptionsError(`target_session_attrs must be read-write, got ${show(target)}`, {
      hint: 'a replica for those who look is named by readStore',
    });
  }
  url.searchParams.delete('target_session_attrs');
  const words = new Map<string, string>();
  for (const word of OUR_WORDS) {
    const value = url.searchParams.get(word);
    if (value !== null) words.set(word, value);
    url.searchParams.delete(word);
  }
  return { url: url.href, words };
}

function readFlag(value: string | undefined, name: string): boolean {
  if (value === undefined || value === 'false') return false;
  if (value === 'true' || value === '') return true;
  throw new StoreOptionsError(`${name} must be true or false, got ${show(value)}`);
}

function readClaimMode(value: string | undefined): ClaimMode {
  if (value === undefined) return 'skip-locked';
  if (value === 'skip-locked' || value === 'cas') return value;
  throw new StoreOptionsError(`claim must be skip-locked or cas, got ${show(value)}`);
}

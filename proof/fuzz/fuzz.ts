/**
 * Requests that nobody would send: routes of the table with parts that were made wrong at random, and
 * texts that mean something to shells, SQL, HTML, JSON, paths and JavaScript. All of them are answered,
 * none with a 5xx, and what is refused changes no row.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  AdminServer,
  addressDoor,
  deskOf,
  hashOfSecret,
  newSecret,
} from '../../src/admin/index.ts';
import { ROUTES } from '../../src/admin/routes/index.ts';
import { PREFIX, type Route } from '../../src/admin/table.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, type Fleet, openStore } from '../../src/index.ts';
import { HOSTILE } from '../../test/admin/hostile.ts';
import { rawSend } from '../../test/admin/raw-send.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { fuzzMachines } from './fuzz-machines.ts';

export interface FuzzOptions {
  readonly requests: number;
  readonly seed: number;
  readonly dataDir: string;
}

export interface FuzzReport {
  readonly requests: number;
  readonly seconds: number;
  readonly byStatus: Readonly<Record<string, number>>;
  readonly serverErrors: number;
  readonly unanswered: number;
  /** Errors that nobody caught: each would have ended the process. */
  readonly restarts: number;
  /** Looks at all rows after a burst of requests that were all refused. */
  readonly rowChecks: number;
  readonly rowsChangedByRefused: number;
  readonly isPrototypeClean: boolean;
  readonly examples: readonly string[];
}

interface Made {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** So many are sent between two looks at the tables. */
const BURST = 100;
const AT_ONCE = 16;

export async function fuzz({ requests, seed, dataDir }: FuzzOptions): Promise<FuzzReport> {
  const random = seededRandom(seed);
  const house = await openHouse(dataDir);
  const byStatus: Record<string, number> = {};
  const examples: string[] = [];
  let [unanswered, rowChecks, rowsChanged] = [0, 0, 0];
  const begun = process.hrtime.bigint();
  const fatal = countFatal();
  try {
    const { ids } = house;
    for (let sent = 0; sent < requests; sent += BURST) {
      const before = await digestOf(house.fleet);
      // In every other burst nobody may change anything, so that whatever changed is a mistake.
      const isQuiet = (sent / BURST) % 2 === 1;
      const secrets = isQuiet ? { read: house.secrets.read } : house.secrets;
      const count = Math.min(BURST, requests - sent);
      const made = Array.from({ length: count }, () => make(random, secrets, ids));
      const codes: number[] = [];
      for (let from = 0; from < made.length; from += AT_ONCE) {
        const batch = made.slice(from, from + AT_ONCE);
        codes.push(...(await Promise.all(batch.map((one) => rawSend(house.at, one)))));
      }
      codes.forEach((code, index) => {
        byStatus[code] = (byStatus[code] ?? 0) + 1;
        if (code === 0) unanswered++;
        if ((code >= 500 || code === 0) && examples.length < 20) {
          examples.push(`${code} ${JSON.stringify(made[index]).slice(0, 500)}`);
        }
      });
      const didNothing = codes.every((code, index) => code >= 400 || isLooking(made[index]!));
      if (!didNothing) continue;
      rowChecks++;
      if ((await digestOf(house.fleet)) === before) continue;
      rowsChanged++;
      if (examples.length < 20) examples.push(`changed by ${JSON.stringify(made).slice(0, 2_000)}`);
    }
  } finally {
    await house.server.stop();
    await house.fleet.drain({ budget: '1s' });
  }
  const serverErrors = Object.entries(byStatus)
    .filter(([code]) => Number(code) >= 500)
    .reduce((sum, [, count]) => sum + count, 0);
  return {
    requests,
    seconds: Math.round(Number(process.hrtime.bigint() - begun) / 1e9),
    byStatus,
    serverErrors,
    unanswered,
    restarts: fatal.stop(),
    rowChecks,
    rowsChangedByRefused: rowsChanged,
    isPrototypeClean: Object.keys(Object.prototype).length === 0 && !('polluted' in {}),
    examples,
  };
}

/**
 * The server is in this very process. What nobody catches would end it, and whoever keeps it up would
 * have to start it again: each such error is counted as that.
 */
function countFatal() {
  let count = 0;
  const onFatal = () => {
    count++;
  };
  process.on('uncaughtException', onFatal).on('unhandledRejection', onFatal);
  return {
    stop: () => {
      process.off('uncaughtException', onFatal).off('unhandledRejection', onFatal);
      return count;
    },
  };
}

/** To reveal is to leave a row; a session is in no table. */
function isLooking({ method, path }: Made): boolean {
  if (path.startsWith(`${PREFIX}/session`)) return true;
  return method === 'GET' && !path.includes('reveal=true');
}

async function openHouse(dataDir: string) {
  const [clock, random] = [systemClock, systemRandom];
  const store = await openStore(`sqlite:${join(dataDir, 'fleet.db')}`, {
    clock,
    random,
    migrates: true,
  });
  const ids = await idsOf(dataDir);
  // It executes nothing, so that no row changes by itself.
  const fleet = await createFleet({
    machines: fuzzMachines,
    dataDir,
    store,
    socket: false,
    isClient: true,
  });
  const secrets = { read: newSecret(random), operate: newSecret(random), admin: newSecret(random) };
  const grants = (['read', 'operate', 'admin'] as const).map((role) => {
    return { name: role, role, mayReveal: role !== 'read', hash: hashOfSecret(secrets[role]) };
  });
  const desk = deskOf({ fleet, clock, random, resultBytesMax: 20_000, redacted: ['secret'] });
  const server = new AdminServer(desk);
  const rate = { perSecond: 1e9, burst: 1e9 };
  const at = await server.listen('127.0.0.1', 0, addressDoor({ grants, clock, random, rate }));
  return { fleet, server, at, secrets, ids };
}

/** Some of everything: due later, ended, failed; made by a pod that has left. */
async function idsOf(dataDir: string): Promise<string[]> {
  const store = `sqlite:${join(dataDir, 'fleet.db')}`;
  const fleet = await createFleet({ machines: fuzzMachines, dataDir, store, socket: false });
  const ids: string[] = [];
  for (let count = 0; count < 5; count++) {
    ids.push((await fleet.enqueueByName('fuzz/later', { n: count }, { runAt: '9h' })).id);
    const ended = await fleet.enqueueByName('fuzz/failing', { n: count });
    await ended.result({ timeout: '60s' }).catch(() => undefined);
    ids.push(ended.id);
  }
  await fleet.drain({ budget: '5s' });
  return ids;
}

type Random = ReturnType<typeof seededRandom>;
const pick = <T>(random: Random, from: readonly T[]): T =>
  from[Math.floor(random.fraction() * from.length)]!;
const chance = (random: Random, share: number) => random.fraction() < share;

function make(random: Random, secrets: Record<string, string>, ids: readonly string[]): Made {
  const route = pick(random, ROUTES.filter(isFit));
  const id = chance(random, 0.5) ? pick(random, ids) : pick(random, HOSTILE);
  const raw = chance(random, 0.1) ? id : encodeURIComponent(toWellFormed(id));
  const path = PREFIX + route.path.replace(':id', raw.replaceAll(/[\s\0\r\n]/g, '%20'));
  const method = chance(random, 0.05)
    ? pick(random, ['PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    : route.method;
  const body = route.body === undefined && chance(random, 0.9) ? undefined : bodyOf(random, route);
  return { method, path: path + queryOf(random, route), headers: headersOf(random, secrets), body };
}

/** Not what would end the server that is asked. */
function isFit({ path }: Route): boolean {
  return path !== '/drain' && !path.startsWith('/pods/') && path !== '/stream';
}

function toWellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

function queryOf(random: Random, route: Route): string {
  const names = [
    ...Object.keys(route.query),
    ...(chance(random, 0.2) ? [pick(random, HOSTILE)] : []),
  ];
  const parts = names
    .filter(() => chance(random, 0.4))
    .map((name) => `${escaped(name)}=${escaped(wordFor(random, name))}`);
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function escaped(text: string): string {
  return encodeURIComponent(toWellFormed(text));
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  limit: ['1', '500', '501', '-1', '1e9', ''],
  source: ['journal', 'store', 'both'],
  reveal: ['true', 'false'],
  from: ['0', '1', '-5'],
  until: ['9000000000000', '1'],
  waitMs: ['0', '1', '99999999'],
  at: ['0', '1', '999999'],
  after: ['-1', '0', '3'],
  filter: [
    'status:failed',
    'created:<2h',
    'is:blocked -machine:x*',
    'retries:>=1',
    'status:',
    '"',
    'a:b:c',
  ],
};

function wordFor(random: Random, name: string): string {
  const known = Object.hasOwn(VALUES, name) ? VALUES[name] : undefined;
  return known && chance(random, 0.7) ? pick(random, known) : pick(random, HOSTILE);
}

function headersOf(random: Random, secrets: Record<string, string>): Record<string, string> {
  const headers: Record<string, string> = {};
  if (chance(random, 0.9))
    headers['authorization'] = `Bearer ${pick(random, Object.values(secrets))}`;
  const odd = [
    'idempotency-key',
    'if-match',
    'accept',
    'content-type',
    'last-event-id',
    'cookie',
    'origin',
  ];
  for (const name of odd)
    if (chance(random, 0.05)) headers[name] = headerText(pick(random, HOSTILE));
  if (chance(random, 0.3))
    headers['if-match'] = pick(random, ['"1.0"', '"1.1"', '"2.0"', '*', '9']);
  return headers;
}

/** What a client could send at all. */
function headerText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 2_000);
}

function bodyOf(random: Random, route: Route): string {
  if (chance(random, 0.1)) return pick(random, HOSTILE);
  // Where much is said something is always wrong: what says little, and that rightly, gets further.
  const isLittle = chance(random, 0.5);
  const isStart = isLittle && Object.hasOwn(route.body ?? {}, 'machine');
  const fields: Record<string, unknown> = isStart ? { machine: 'fuzz/later', input: { n: 1 } } : {};
  for (const name of Object.keys(route.body ?? {})) {
    if (!Object.hasOwn(fields, name) && chance(random, isLittle ? 0.3 : 0.7))
      fields[name] = fieldOf(random, name);
  }
  if (chance(random, 0.1)) fields[pick(random, HOSTILE)] = pick(random, HOSTILE);
  const text = JSON.stringify(fields);
  return chance(random, 0.05) ? text.slice(0, Math.floor(random.fraction() * text.length)) : text;
}

const FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  machine: ['fuzz/later', 'fuzz/failing', 'fuzz/latr'],
  input: [{ n: 1 }, { n: 'x' }, null, [[[[]]]], { n: 1, secret: 'x' }],
  dryRun: [true, false, 'yes', 1],
  ifRevision: ['1.0', '1.1', '0', 'x'],
  runAt: ['10m', '2030-01-01T00:00:00Z', -1, 'soon', '9e99d', Number.MAX_VALUE],
  queue: ['night', 'a\0b', '\ud800', ''],
  serialKey: ['ada', '\0', '\udc00'],
  key: ['k1', 'k2', 'schedule/nightly/now/1', '\ud800'],
  priority: [0, -7, 32_767, 32_768, 0.5, '3'],
  retriesMax: [1, 3, 0, 1e9],
  on: ['success', 'end', 'never'],
  from: ['main.work', 'main.check', 'nowhere'],
  isFresh: [true, false, 'x'],
  reason: ['enough', '', null],
  token: ['fq_x'],
};

function fieldOf(random: Random, name: string): unknown {
  const known = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
  return known && chance(random, 0.7) ? pick(random, known) : pick(random, HOSTILE);
}

/** Everything that people can change, of which there is no end: the newest of it. */
async function digestOf(fleet: Fleet): Promise<string> {
  const rows = await fleet.store.list({ countMax: 300 });
  const reader = await fleet.store.openReader();
  const audit = (await reader.audit({ countMax: 200 })).rows;
  await reader.close();
  return createHash('sha256')
    .update(JSON.stringify([rows, audit]))
    .digest('hex');
}

/** A role that may not ask for the timeline of its server, as on Aurora: a fleet works without it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, defineMachine } from '../../src/index.ts';
import { StoreRefusedError, StoreUnreachableError } from '../../src/store/errors.ts';
import { readPostgresWay } from '../../src/store/postgres/options.ts';
import { Pool } from '../../src/store/postgres/pool.ts';
import { selectTimeline } from '../../src/store/postgres/sql.ts';
import { NO_TIMELINE, readTimeline } from '../../src/store/postgres/timeline.ts';
import { runOn } from '../support/postgres.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { options, usePostgres } from './postgres-harness.ts';

const scene = usePostgres();
const newDir = useTempDirs();

/** The role owns its database, as the user of a rented server does. */
const places: { readonly url: string; readonly plain: string; readonly role: string }[] = [];
async function refusedPlace(what: string) {
  const url = await scene.server.createDatabase();
  const role = `plain_of_${new URL(url).pathname.slice(1)}`;
  await runOn(url, `create role ${role} login`);
  await runOn(url, `alter database ${new URL(url).pathname.slice(1)} owner to ${role}`);
  await runOn(url, `alter schema public owner to ${role}`);
  await runOn(url, `revoke execute on function ${what} from public`);
  const plain = new URL(url);
  plain.username = role;
  plain.password = '';
  const place = { url, plain: plain.href, role };
  places.push(place);
  return place;
}

const FUNCTIONS = ['pg_walfile_name(pg_lsn)', 'pg_current_wal_lsn()'];
let refused: { readonly url: string; readonly plain: string; readonly role: string };
beforeAll(async () => {
  refused = await refusedPlace(FUNCTIONS[0]!);
});
afterAll(async () => {
  for (const { url, role } of places) {
    const database = new URL(url).pathname.slice(1);
    const admin = Object.assign(new URL(url), { pathname: '/postgres' }).href;
    await runOn(admin, `drop database ${database} with (force)`);
    await runOn(admin, `drop role ${role}`);
  }
});

const double = defineMachine({
  name: 'double',
  version: 1,
  input: z.object({ n: z.number() }),
  check: 'none',
  work: ({ input }) => 2 * input.n,
});

const keep = defineMachine({
  name: 'keep',
  version: 1,
  input: z.object({ n: z.number() }),
  check: 'none',
  work: ({ input }) => input.n,
  persistIn: 'store',
  persist: async ({ tx, work }) => {
    await tx.query('create table if not exists kept (n int)');
    await tx.query('insert into kept (n) values ($1)', [work]);
    return work;
  },
});

const several = (url: string) => url.replace(/@([^/]+)\//, '@$1,$1/');

test.each([
  ['pg_walfile_name', () => refused, (url: string) => url],
  ['pg_current_wal_lsn', () => refusedPlace(FUNCTIONS[1]!), (url: string) => url],
  ['pg_walfile_name, through several addresses', () => refused, several],
])(
  'a pod whose role may not execute %s joins, beats, claims, commits and settles',
  async (_, placeOf, addressOf) => {
    const { plain, url } = await placeOf();
    await using fleet = await createFleet({
      ...{ machines: [double, keep], store: addressOf(plain), migrates: true },
      ...{ dataDir: newDir(), socket: false, heartbeat: '100ms', silence: '2s' },
    });
    const doubled = await fleet.enqueue(double, { n: 4 });
    const kept = await fleet.enqueue(keep, { n: 5 });
    expect(await doubled.result()).toBe(8);
    expect(await kept.result()).toBe(5);
    const epochs = await runOn(url, 'select max(claim_epoch)::int as epoch from step_tracker');
    expect(epochs).toEqual([{ epoch: 1 }]);
  },
  60_000,
);

test('once the role is granted the right, a pod that joins anew goes by the timeline again', async () => {
  const { url, plain } = await refusedPlace(FUNCTIONS[0]!);
  const way = readPostgresWay(plain, options);
  const pool = new Pool(way, systemClock, systemRandom);
  const before = await pool.query(selectTimeline);
  await runOn(url, `grant execute on function ${FUNCTIONS[0]} to public`);
  // The heartbeats of its next life have a connection of their own, which hears the timeline.
  const asked = new Pool(way, systemClock, systemRandom);
  const [heard] = await asked.query(selectTimeline);
  await pool.follow(heard!['timeline'] as string);
  const after = await pool.query(selectTimeline);
  await Promise.all([pool.close(), asked.close()]);
  expect(before).toEqual([{ timeline: NO_TIMELINE }]);
  expect(heard).toEqual({ timeline: '00000001' });
  expect(after).toEqual([{ timeline: '00000001' }]);
});

test('a standby has no timeline yet, and is not taken for a server that refuses it', async () => {
  expect(await readTimeline(async () => [{ timeline: null }])).toBe(undefined);
});

test('whatever a server that answers says against it, the fleet goes on without the timeline', async () => {
  // A role without the right; Aurora; a server whose write-ahead log is not for asking; CockroachDB.
  for (const code of ['42501', '0A000', '55000', '42883']) {
    const refusing = async () => {
      throw Object.assign(new Error('WAL control functions cannot be executed'), { code });
    };
    expect(await readTimeline(refusing), code).toBe(NO_TIMELINE);
  }
  const refusedByUs = async () => {
    throw new StoreRefusedError('no');
  };
  expect(await readTimeline(refusedByUs)).toBe(NO_TIMELINE);
});

test('a server that does not answer has refused nothing', async () => {
  for (const code of ['57P01', '08006', '40001', 'ECONNRESET']) {
    const away = async () => {
      throw Object.assign(new Error('gone'), { code });
    };
    await expect(readTimeline(away), code).rejects.toThrow();
  }
  const late = async () => {
    throw new StoreUnreachableError('late');
  };
  await expect(readTimeline(late)).rejects.toThrow(StoreUnreachableError);
});

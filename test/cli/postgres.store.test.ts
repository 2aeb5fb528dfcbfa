/** The commands of the fleet on a real Postgres, directly and through PgBouncer in transaction mode. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts';
import { runOn, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { migratedDatabase, sharedPostgres } from '../support/shared-postgres.ts';
import { fleetq, usePlaces } from './in-process.ts';
import { SOON_SILENT, sweepAlone } from './sweep-alone.ts';

const { makeDirectory, makePlace } = usePlaces();

interface Check {
  readonly name: string;
  readonly verdict: string;
  readonly fact: string;
  readonly fix?: string;
}

let postgres: TestPostgres;
/** Roles are the server's, which other files use too. */
const roles: string[] = [];
beforeAll(async () => {
  postgres = await sharedPostgres();
});
afterAll(async () => {
  const address = await postgres.createDatabase();
  for (const role of roles) await runOn(address, `drop role ${role}`);
  await postgres.remove();
});

/** A role whose name is that of its database, and more. */
async function makeRole(address: string, name: string, options: string): Promise<string> {
  const role = `${new URL(address).pathname.slice(1)}_${name}`;
  roles.push(role);
  await runOn(address, `create role ${role} ${options}`);
  return role;
}

async function doctor(address: string, env: Readonly<Record<string, string>> = {}) {
  const { code, stdout } = await fleetq(makeDirectory(), ['doctor', '--store', '--json'], {
    env: { FLEETQ_STORE_URL: address, ...env },
  });
  const { checks, config } = JSON.parse(stdout) as { checks: Check[]; config: unknown[] };
  return { code, config, of: (name: string) => checks.find((check) => check.name === name) };
}

test('migrate plans, applies once however often, and tells how far the tables are', async () => {
  const env = { FLEETQ_STORE_URL: await postgres.createDatabase() };
  const cwd = makeDirectory();
  const migrate = (...args: string[]) => fleetq(cwd, ['migrate', ...args], { env });
  expect((await migrate('status')).code).toBe(6);
  const plan = await migrate('plan');
  expect(plan.stdout).toContain('create table step_tracker');
  expect((await migrate('up', '--dry-run')).stdout).toBe(plan.stdout);
  expect((await migrate('status')).code).toBe(6);
  const ups = await Promise.all([1, 2, 3].map(() => migrate('up', '--json')));
  expect(ups.map(({ code }) => code)).toEqual([0, 0, 0]);
  const told = ups.map(
    ({ stdout }) => JSON.parse(stdout) as { version: number; applied: string[] },
  );
  const versions = Array.from({ length: told[0]!.version }, (_, index) => index + 1);
  // Each was applied by one of them, and only that one says so.
  const numbers = told.flatMap(({ applied }) => applied.map((name) => Number(name.slice(0, 4))));
  expect(numbers.sort((one, other) => one - other)).toEqual(versions);
  expect(new Set(told.map(({ version }) => version)).size).toBe(1);
  const status = JSON.parse((await migrate('status', '--json')).stdout);
  expect(status).toMatchObject({ isUpToDate: true, pending: [] });
  expect((await migrate('up')).stdout).toBe('');
});

test('tasks are enqueued, executed and shown as on any store', async () => {
  const place = await makePlace({}, await migratedDatabase(postgres));
  await place.pod();
  const done = await place.run('enqueue', 'test/quick', '--input', '{"n":5}', '--wait');
  expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { doubled: 10 }]);
  const { tasks } = await place.json<{ tasks: { id: string }[] }>(
    ...['runs', '--machine', 'test/quick'],
  );
  const events = await place.run('events', tasks[0]!.id, '--json');
  expect(events.stdout.trim().split('\n')).toHaveLength(2);
});

test('sweep, alone, gives back what the dead and the forgotten held, and judges nobody', async () => {
  const address = await migratedDatabase(postgres);
  const place = await makePlace(SOON_SILENT, address);
  await place.store((store) =>
    sweepAlone(place, store, async (pod) => {
      await runOn(address, `delete from pod_health where pod_id = '${pod}'`);
    }),
  );
});

describe('doctor --store', () => {
  test('tells version, clock, schema, latency, hints and rules, and hides the password', async () => {
    const address = await postgres.createDatabase();
    expect((await doctor(address)).of('schema')).toMatchObject({
      verdict: 'fail',
      fix: 'run: fleetq migrate up',
    });
    await makePlace({}, address);
    const url = new URL(address);
    url.password = 'hunter2';
    const { code, of, config } = await doctor(url.href);
    expect(code).toBe(0);
    expect(of('server')?.fact).toMatch(/^PostgreSQL \d+/);
    expect(of('clock')?.fact).toMatch(/^the server's is .* this host's$/);
    expect(of('statements')?.fact).toBe('end after 8.0 s, read committed; set by each connection');
    expect(of('connections')?.fact).toMatch(/^[1-9]\d* of [1-9]\d* in use$/);
    expect(of('latency')?.fact).toMatch(/^p50 .*, p99 .* of 30 round trips$/);
    expect(of('hints')?.fact).toMatch(/^arrive/);
    expect(of('rules')).toMatchObject({ verdict: 'ok' });
    expect(JSON.stringify(config)).not.toContain('hunter2');
  });

  test('says in one line what a role without the timeline costs', async () => {
    const address = await postgres.createDatabase();
    await makePlace({}, address);
    const allowed = (await doctor(address)).of('failover');
    expect(allowed).toMatchObject({ verdict: 'ok', fact: expect.stringContaining('00000001') });
    const url = new URL(address);
    url.username = await makeRole(address, 'no_timeline', 'login in role pg_read_all_data');
    await runOn(address, 'revoke execute on function pg_walfile_name(pg_lsn) from public');
    const { code, of } = await doctor(url.href);
    expect(code).toBe(0);
    expect(of('failover')).toEqual({
      name: 'failover',
      verdict: 'warn',
      fact: 'the role may not ask for the timeline: a failover that lost commits is not noticed',
      fix: expect.stringContaining('grant execute on function pg_walfile_name(pg_lsn)'),
    });
  });

  test('tells how many connections are left for its role, and by which limit', async () => {
    const address = await postgres.createDatabase();
    const database = new URL(address).pathname.slice(1);
    const plain = await makeRole(address, 'plain', 'login');
    const bounded = await makeRole(address, 'bounded', 'login connection limit 3');
    const factFor = async (role: string) => {
      const url = new URL(address);
      url.username = role;
      return (await doctor(url.href)).of('connections');
    };
    const most = (await runOn<{ max: string }>(address, 'show max_connections'))[0]!;
    const ordinary = Number(Object.values(most)[0]) - 3;
    expect(await factFor(plain)).toMatchObject({
      verdict: 'ok',
      fact: expect.stringMatching(
        new RegExp(`^\\d+ of ${ordinary} in use; 3 more are reserved for other roles$`),
      ),
    });
    expect(await factFor(bounded)).toMatchObject({
      fact: `1 of 3 in use, by the limit of the role ${bounded}`,
    });
    await runOn(address, `alter database ${database} connection limit 1`);
    expect(await factFor(plain)).toMatchObject({
      verdict: 'warn',
      fact: `1 of 1 in use, by the limit of the database ${database}`,
      fix: expect.stringContaining(`alter database ${database} connection limit`),
    });
  });

  test('finds rows that no program of ours would have written', async () => {
    const address = await migratedDatabase(postgres);
    await runOn(
      address,
      "insert into step_tracker (machine, status, claimed_by, claim_epoch) values ('m', 'claimed', 'nobody', 1)",
    );
    const { code, of } = await doctor(address);
    expect(code).toBe(8);
    expect(of('rules')).toMatchObject({
      verdict: 'fail',
      fact: expect.stringContaining('the owner of a claim is up, draining, or dead'),
    });
  });

  test('an address where nobody answers is told, with nothing after it', async () => {
    const { code, of } = await doctor('postgres://nobody@127.0.0.1:1/none');
    expect(code).toBe(8);
    expect(of('server')).toMatchObject({ verdict: 'fail' });
    expect(of('schema')).toBeUndefined();
  });
});

const pgBouncer = findPgBouncer();
describe.skipIf(pgBouncer === undefined)('behind PgBouncer in transaction mode', () => {
  // A server of its own: the pooler knows one role by its name, which every server has once.
  let own: TestPostgres;
  let pooler: TestPgBouncer;
  beforeAll(async () => {
    own = await startPostgres();
    pooler = await startPgBouncer(pgBouncer!, own);
  });
  afterAll(async () => {
    await pooler?.stop();
    await own?.remove();
  });

  test('a role without limits of its own is refused with what to set; with them a pod works', async () => {
    const direct = await own.createDatabase();
    const place = await makePlace({}, direct);
    const through = pooler.through(direct);
    const env = { FLEETQ_POOLED: 'true' };
    const refused = await doctor(through, env);
    expect([refused.code, refused.of('server')]).toMatchObject([
      8,
      { verdict: 'fail', fix: expect.stringContaining('set statement_timeout') },
    ]);
    await runOn(direct, 'create role fleetq_pooled superuser login');
    await runOn(direct, "alter role fleetq_pooled set statement_timeout = '5s'");
    const limited = through.replace(/\/\/[^@]*@/, '//fleetq_pooled@');
    const { code, of } = await doctor(limited, env);
    expect([code, of('statements')?.fact]).toEqual([
      0,
      'end after 5.0 s, read committed; through a pooler, by the role',
    ]);
    expect(of('hints')?.fact).toMatch(/^do not arrive/);
    await place.pod({ store: limited, pooled: 'true' });
    const quick = ['enqueue', 'test/quick', '--input', '{"n":5}', '--wait', '--timeout', '20s'];
    const done = await place.run(...quick, '--store', limited, '--pooled');
    expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { doubled: 10 }]);
  });
});

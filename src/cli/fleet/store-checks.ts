/** `fleetq doctor --store`: whether the store answers, fits, is quick, gives hints, and is sound. */
import type { Config } from '../../config/index.ts';
import { describeError, showDuration, sqliteVersion, systemClock } from '../../ground/index.ts';
import { openStore, type Store } from '../../store/index.ts';
import type { MigrationStatus } from '../../store/migrations.ts';
import type { PostgresFacts } from '../../store/postgres/facts.ts';
import type { AccountFacts } from '../../store/snowflake/account-facts.ts';
import { sealCheck } from '../codec-checks.ts';
import type { Context } from '../command.ts';
import { type Check, micros } from '../doctor-checks.ts';
import { connectionsCheck } from './connections-check.ts';
import { schemaOf } from './migrate.ts';
import { storeAddress, storeOptions } from './open.ts';
import { isResting, podsOf } from './pods.ts';
import { sinkChecks } from './sink-checks.ts';
import { transactionsCheck } from './transactions-check.ts';

const ROUND_TRIPS = 30;
const ROUND_TRIP_SLOW_MS = 50;
/** Nobody compares clocks of two machines; people who read logs of both do. */
const CLOCK_APART_MS = 2_000;
const NOBODY = '00000000000000000000000000';

export async function storeChecks(context: Context): Promise<Check[]> {
  const { config } = context;
  const server = await serverChecks(config);
  if (server.some(({ verdict }) => verdict === 'fail')) return server;
  const schema = schemaCheck(await schemaOf(context));
  if (schema.verdict === 'fail') return [...server, schema];
  const store = await openStore(storeAddress(config), storeOptions(config));
  try {
    return [
      ...server,
      schema,
      await latencyCheck(store),
      await hintsCheck(store),
      ...(await rulesChecks(store)),
      await podsCheck(store, config),
      await retentionCheck(store),
      await sealCheck(store, config),
      ...(await sinkChecks(config)),
    ];
  } catch (error) {
    return [...server, schema, failure('store', error)];
  } finally {
    await store.close();
  }
}

async function serverChecks(config: Config): Promise<Check[]> {
  const address = storeAddress(config);
  if (/^snowflake:/i.test(address)) return accountChecks(address, config);
  if (!/^postgres/i.test(address)) {
    const name = /^sqlite:/i.test(address) ? `SQLite ${sqliteVersion()}` : 'tables in memory';
    return [{ name: 'server', verdict: 'ok', fact: `${name}, for the processes of this host` }];
  }
  const { postgresFacts } = await import('../../store/postgres/facts.ts');
  try {
    const beganAt = systemClock.now();
    const facts = await postgresFacts(address, storeOptions(config));
    const between = (beganAt + systemClock.now()) / 2;
    const clock = clockCheck(facts.now - between);
    return [
      serverCheck(facts),
      clock,
      timeoutCheck(facts),
      connectionsCheck(facts),
      transactionsCheck(facts),
      ...(facts.isStandby ? [] : [timelineCheck(facts)]),
    ];
  } catch (error) {
    return [failure('server', error)];
  }
}

async function accountChecks(address: string, config: Config): Promise<Check[]> {
  const { accountFacts } = await import('../../store/snowflake/account-facts.ts');
  try {
    const facts = await accountFacts(address, storeOptions(config));
    // Whatever was asked before takes a while here: what came last is compared.
    const apartMs = facts.now - systemClock.now();
    return [accountCheck(facts), warehouseCheck(facts), tablesCheck(facts), clockCheck(apartMs)];
  } catch (error) {
    return [failure('server', error)];
  }
}

function accountCheck({ account, version, role }: AccountFacts): Check {
  const fact = `Snowflake ${version}, account ${account}, role ${role ?? 'none'}`;
  return { name: 'server', verdict: 'ok', fact };
}

function warehouseCheck({ warehouse }: AccountFacts): Check {
  const name = 'warehouse';
  if (warehouse !== undefined) return { name, verdict: 'ok', fact: warehouse };
  const fix = 'add warehouse=… to the address, or give the user a default one';
  return { name, verdict: 'fail', fact: 'none, so no statement can run', fix };
}

function tablesCheck({ kind }: AccountFacts): Check {
  const name = 'tables';
  if (kind === undefined) return { name, verdict: 'ok', fact: 'none yet' };
  if (kind === 'hybrid') return { name, verdict: 'ok', fact: 'hybrid: rows are locked one by one' };
  const fact = 'standard: all pods share one writer at a time';
  return { name, verdict: 'warn', fact, fix: 'keep to about ten pods; see choose-a-store' };
}

function serverCheck({ version, isStandby }: PostgresFacts): Check {
  const fact = version.split(/,| on /)[0] ?? version;
  return isStandby
    ? {
        name: 'server',
        verdict: 'fail',
        fact: `${fact}, a standby, which takes no writes`,
        fix: 'name the primary, with target_session_attrs=read-write or a name that follows it',
      }
    : { name: 'server', verdict: 'ok', fact };
}

function clockCheck(apartMs: number): Check {
  const side = apartMs < 0 ? 'behind' : 'ahead of';
  const fact = `the server's is ${showDuration(Math.abs(apartMs))} ${side} this host's`;
  return Math.abs(apartMs) <= CLOCK_APART_MS
    ? { name: 'clock', verdict: 'ok', fact }
    : {
        name: 'clock',
        verdict: 'warn',
        fact: `${fact}; nothing depends on it, but times in logs will not agree`,
        fix: 'let both follow one time server',
      };
}

/** Through a pooler the role has to bring it: whoever lacks it is refused before this is asked. */
function timeoutCheck({ statementTimeoutMs: ms, isolation, isPooled }: PostgresFacts): Check {
  const way = isPooled ? 'through a pooler, by the role' : 'set by each connection';
  return ms > 0
    ? {
        name: 'statements',
        verdict: 'ok',
        fact: `end after ${showDuration(ms)}, ${isolation}; ${way}`,
      }
    : {
        name: 'statements',
        verdict: 'fail',
        fact: `the server lets them run for ever (${way})`,
        fix: 'through a pooler set FLEETQ_POOLED=true, and statement_timeout for the role',
      };
}

function timelineCheck({ timeline }: PostgresFacts): Check {
  const name = 'failover';
  return timeline === undefined
    ? {
        name,
        verdict: 'warn',
        fact: 'the role may not ask for the timeline: a failover that lost commits is not noticed',
        fix: 'grant execute on function pg_walfile_name(pg_lsn), pg_current_wal_lsn() to the role',
      }
    : { name, verdict: 'ok', fact: `one that lost commits is noticed (timeline ${timeline})` };
}

function schemaCheck(found: MigrationStatus | string): Check {
  const name = 'schema';
  if (typeof found === 'string') return { name, verdict: 'fail', fact: found };
  const { applied, pending } = found;
  const fact = `version ${applied.at(-1)?.version ?? 0}`;
  return pending.length === 0
    ? { name, verdict: 'ok', fact }
    : {
        name,
        verdict: 'fail',
        fact: `${fact}, ${pending.length} migrations are pending`,
        fix: 'run: fleetq migrate up',
      };
}

async function latencyCheck(store: Store): Promise<Check> {
  const elapsed: number[] = [];
  for (let count = 0; count < ROUND_TRIPS; count += 1) {
    const begunMs = systemClock.monotonicMs();
    await store.find([NOBODY as never]);
    elapsed.push(systemClock.monotonicMs() - begunMs);
  }
  elapsed.sort((a, b) => a - b);
  const at = (share: number) => elapsed[Math.floor((elapsed.length - 1) * share)] ?? 0;
  const fact = `p50 ${micros(at(0.5))}, p99 ${micros(at(0.99))} of ${ROUND_TRIPS} round trips`;
  return at(0.5) <= ROUND_TRIP_SLOW_MS
    ? { name: 'latency', verdict: 'ok', fact }
    : { name: 'latency', verdict: 'warn', fact, fix: 'bring the pods nearer to the database' };
}

/** Listening tests itself: where nothing would arrive there is nothing to stop. */
async function hintsCheck(store: Store): Promise<Check> {
  const name = 'hints';
  const stop = await store.listen(() => undefined);
  await stop?.();
  if (stop)
    return { name, verdict: 'ok', fact: 'arrive: a task is claimed as soon as it is there' };
  const poll = showDuration(store.capabilities.idlePollMs);
  const fact = `do not arrive: an idle pod finds a task by looking, every ${poll} at the latest`;
  return { name, verdict: 'ok', fact };
}

async function rulesChecks(store: Store): Promise<Check[]> {
  const broken = await store.violations();
  if (broken.length === 0) return [{ name: 'rules', verdict: 'ok', fact: 'all of them hold' }];
  return broken.map(({ rule, count, examples }) => ({
    name: 'rules',
    verdict: 'fail',
    fact: `broken by ${count}: ${rule} (${examples.slice(0, 3).join(', ')})`,
    fix: 'keep the database as it is, and report this: FleetQ does not write such rows',
  }));
}

async function podsCheck(store: Store, config: Config): Promise<Check> {
  const name = 'pods';
  const all = await podsOf(store, config);
  const count = (status: string) => all.filter((pod) => pod.status === status).length;
  const silent = all.filter(({ isSilent }) => isSilent).length;
  const resting = all.filter(isResting).length;
  const rests = resting > 0 ? `, ${resting} resting` : '';
  const fact = `${count('up')} up, ${count('draining')} draining, ${count('dead')} dead${rests}`;
  if (silent === 0) return { name, verdict: 'ok', fact };
  const fix = 'the leader sweeps them; where none is up, start a pod: fleetq worker';
  return { name, verdict: 'warn', fact: `${fact}, ${silent} silent`, fix };
}

/** The leader reports it with its heartbeats: it alone knows how long ended tasks are kept. */
async function retentionCheck(store: Store): Promise<Check> {
  const name = 'retention';
  const lateMs = Math.max(
    0,
    ...(await store.pods()).map(({ status, report }) =>
      status === 'up' ? Number((report as { retentionLateMs?: number })?.retentionLateMs ?? 0) : 0,
    ),
  );
  if (lateMs === 0) return { name, verdict: 'ok', fact: 'what is old enough is removed' };
  return {
    name,
    verdict: 'warn',
    fact: `ended tasks are removed ${showDuration(lateMs)} late`,
    fix: 'the leader goes on until it has caught up; its log names what fails (recovery.failed)',
  };
}

function failure(name: string, error: unknown): Check {
  const { hint } = error as { hint?: string };
  return { name, verdict: 'fail', fact: describeError(error).message, fix: hint };
}

/** How much there is of everything, counted where it lies. */
import { CENSUS_ROUTES_MAX, type Census, type MachineCount, type RouteCensus } from '../census.ts';
import { endedOldestMs, keysLateMs, queuesOf, scheduleLateMs } from '../memory/census.ts';
import type { MemoryTables } from '../memory/tables.ts';
import { by } from '../memory/tables.ts';
import type { QueueRow } from '../queues.ts';
import type { RouteTally } from '../tasks.ts';
import { routeOf } from '../words.ts';
import type { Calls } from './calls.ts';
import { STEP_TRACKER } from './columns.ts';
import type { Row } from './executor.ts';
import { gather, gatherFacts, gatherFleet } from './gather.ts';
import { selectOld, selectStaleKeys } from './recovery.sql.ts';
import * as statements from './tallies.sql.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export function inFlight(calls: Calls, routes?: readonly string[]): Promise<RouteTally[]> {
  return calls.sessions.use(async ({ run }) => {
    const { rows } =
      routes === undefined
        ? await run(statements.countOpen)
        : await run(statements.countClaimable, [JSON.stringify(routes)]);
    const tallies = new Map<string, Mutable<RouteTally>>();
    for (const row of rows) {
      const of = { machine: text(row, 'machine'), version: number(row, 'version') };
      const route = routeOf(of);
      const tally = tallies.get(route) ?? { ...NOTHING, route, ...of };
      tallies.set(route, tally);
      tally[text(row, 'status') as 'pending' | 'waiting' | 'claimed'] += number(row, 'n');
      for (const part of ['pinned', 'shelved', 'suspect'] as const)
        tally[part] += number(row, part);
    }
    return [...tallies.values()].sort(by(({ route }) => route));
  });
}

const NOTHING = { pending: 0, waiting: 0, claimed: 0, pinned: 0, shelved: 0, suspect: 0 };

export async function queues(calls: Calls): Promise<QueueRow[]> {
  let counts: readonly Row[] = [];
  return calls.look(
    async (reading) => {
      counts = (await reading.run(statements.countQueues)).rows;
      await gatherFacts(reading, 'queue');
    },
    ({ flow }) => {
      const names = new Set([...flow.queues.keys(), ...counts.map((row) => text(row, 'queue'))]);
      const rows = [...names].map((queue): QueueRow => {
        const own = counts.filter((row) => text(row, 'queue') === queue);
        const count = (status: string) =>
          own
            .filter((row) => text(row, 'status') === status)
            .reduce((sum, row) => sum + number(row, status === 'claimed' ? 'unpinned' : 'n'), 0);
        const { limit, isPaused = false, pausedBy, pausedAt } = flow.queues.get(queue) ?? {};
        const first = own.find((row) => text(row, 'status') === 'pending');
        const [pending, waiting, claimed] = ['pending', 'waiting', 'claimed'].map(count);
        return {
          queue,
          ...{ pending: pending!, waiting: waiting!, claimed: claimed! },
          dueAt: first && number(first, 'first_at'),
          ...{ limit, isPaused, pausedBy, pausedAt },
        };
      });
      return rows.sort(by(({ queue }) => queue));
    },
  );
}

export async function census(calls: Calls, countMax: number, silentMs: number): Promise<Census> {
  let [open, held, failed, counts]: (readonly Row[])[] = [[], [], [], []];
  return calls.look(
    async (reading) => {
      const rowsOf = async (statement: string) => (await reading.run(statement)).rows;
      open = await rowsOf(statements.censusOpen);
      held = await rowsOf(statements.censusHeld);
      failed = await rowsOf(statements.censusFailed);
      counts = await rowsOf(statements.countQueues);
      await gatherFleet(reading);
      await gatherFacts(reading, 'route', 'queue', 'schedule');
      await gather(reading, STEP_TRACKER, selectOld(1), [0]);
      await gather(reading, STEP_TRACKER, selectStaleKeys(1), []);
    },
    (tables) => {
      const orphans = held!.filter((row) => isOrphan(tables, text(row, 'claimed_by'), silentMs));
      const since = orphans.map(
        (row) =>
          tables.pods.get(text(row, 'claimed_by'))?.lastHeartbeat ?? number(row, 'updated_at'),
      );
      return {
        routes: routesOf(tables, open!, countMax),
        claimed: byMachine(held!, countMax),
        deadLetters: byMachine(failed!, countMax),
        orphans: orphans.reduce((sum, row) => sum + number(row, 'n'), 0),
        orphansOldestMs: agoOf(tables.now(), since),
        queues: queuesOf(tables, (queue) =>
          counts!
            .filter((row) => text(row, 'queue') === queue && text(row, 'status') === 'claimed')
            .reduce((sum, row) => sum + number(row, 'unpinned'), 0),
        ),
        scheduleLateMs: scheduleLateMs(tables),
        endedOldestMs: endedOldestMs(tables),
        keysLateMs: keysLateMs(tables),
        oldestTransactionMs: undefined,
      };
    },
  );
}

function routesOf(tables: MemoryTables, rows: readonly Row[], countMax: number): RouteCensus[] {
  const live = new Set(
    tables.podsWhere(({ status }) => status === 'up').flatMap(({ routes }) => routes),
  );
  const known = [...tables.registry.values()].sort(by(({ route }) => route));
  return known.slice(0, CENSUS_ROUTES_MAX).map(({ route, machine }) => {
    const own = rows.filter((row) => text(row, 'route') === route);
    const count = (is: (row: Row) => boolean) =>
      Math.min(
        own.filter(is).reduce((sum, row) => sum + number(row, 'n'), 0),
        countMax,
      );
    const isSuspect = (row: Row) => number(row, 'suspect') === 1;
    const waits: Record<string, number> = {};
    for (const row of own) {
      if (text(row, 'status') !== 'waiting' || isSuspect(row)) continue;
      waits[text(row, 'wait_for')] = Math.min(number(row, 'n'), countMax);
    }
    return {
      route,
      machine,
      isLive: live.has(route),
      pending: count((row) => text(row, 'status') === 'pending' && !isSuspect(row)),
      waits,
      suspect: count(isSuspect),
      oldestMs: agoOf(
        tables.now(),
        own.map((row) => number(row, 'first_at')),
      ),
    };
  });
}

function isOrphan(tables: MemoryTables, owner: string, silentMs: number): boolean {
  const pod = tables.pods.get(owner);
  if (pod?.status !== 'up' && pod?.status !== 'draining') return true;
  return pod.lastHeartbeat < tables.now() - (pod.silenceMs ?? silentMs);
}

function byMachine(rows: readonly Row[], countMax: number): MachineCount[] {
  const counts = new Map<string, number>();
  let room = countMax;
  for (const row of rows) {
    const machine = text(row, 'machine');
    const count = Math.min(number(row, 'n'), room);
    room -= count;
    if (count > 0) counts.set(machine, (counts.get(machine) ?? 0) + count);
  }
  return [...counts].map(([machine, count]) => ({ machine, count })).sort(by((of) => of.machine));
}

function agoOf(now: number, times: readonly number[]): number | undefined {
  const agoMs = now - Math.min(...times);
  return agoMs > 0 && Number.isFinite(agoMs) ? agoMs : undefined;
}

function text(row: Row, name: string): string {
  return String(row[name] ?? '');
}

function number(row: Row, name: string): number {
  return Number(row[name] ?? 0);
}

/** Pods that rest, so that the warehouse may: ../rest.ts says what that is, bell.ts what wakes them. */
import * as rules from '../memory/pods.ts';
import type { MemoryTables } from '../memory/tables.ts';
import type { Repose } from '../rest.ts';
import type { PodId } from '../words.ts';
import { QUIET_MS } from './bell.ts';
import type { Calls } from './calls.ts';
import { gatherFacts, gatherFleet, gatherPods } from './gather.ts';
import * as statements from './rest.sql.ts';
import type { Run } from './sessions.ts';

/** For less than that it is not worth lying down. */
const REST_MS_MIN = 120_000;
/** Whoever is up and was not heard for so long may be dead: somebody has to stay and see. */
const HEARD_MS_MAX = 45_000;
/** A process that stood still between its ring and its work was not heard: somebody looks in the end. */
const REST_MS_MAX = 6 * 3_600_000;
const OLD_RING_MS = 86_400_000;
/** A mark is the time of a change, in nanoseconds. */
const MARK_MS = 1_000_000;

interface Unrest {
  readonly claimed: number;
  readonly due: number | undefined;
  readonly rungAt: number | undefined;
}

export function rest(calls: Calls, pod: PodId): Promise<Repose | undefined> {
  let mark = '';
  let unrest: Unrest | undefined;
  return calls.change(
    async (reading) => {
      // Before anything is looked at: what comes after this is seen by the mark.
      mark = await markBy(reading.run);
      unrest = await unrestBy(reading.run);
      await gatherFleet(reading);
      await gatherFacts(reading, 'schedule');
    },
    (tables) => {
      // What was rung is told by the mark at once, and by the table perhaps later.
      const isRung = tables.now() - Number(mark) / MARK_MS <= QUIET_MS;
      const wakeAt = isRung ? undefined : quietUntil(tables, unrest!);
      if (wakeAt === undefined || !rules.rest(tables, pod)) return undefined;
      return { mark, wakeInMs: Math.min(wakeAt - tables.now(), REST_MS_MAX) };
    },
  );
}

/** Undefined where it is not quiet; Infinity where nothing will ever be due. */
function quietUntil(tables: MemoryTables, { claimed, due, rungAt }: Unrest): number | undefined {
  const now = tables.now();
  const ticks = [...tables.schedules.values()].flatMap(({ nextAt }) => nextAt ?? []);
  const wakeAt = Math.min(due ?? Number.POSITIVE_INFINITY, ...ticks);
  const isHeard = tables
    .podsWhere(({ status }) => status !== 'down')
    .every(({ status, lastHeartbeat }) => status === 'up' && now - lastHeartbeat <= HEARD_MS_MAX);
  const isQuiet = claimed === 0 && isHeard && now - (rungAt ?? 0) > QUIET_MS;
  return isQuiet && wakeAt - now >= REST_MS_MIN ? wakeAt : undefined;
}

async function markBy(run: Run): Promise<string> {
  const { rows } = await run(statements.selectMark);
  return String(rows[0]?.['changed']);
}

async function unrestBy(run: Run): Promise<Unrest> {
  const [row] = (await run(statements.selectUnrest)).rows;
  const [ring] = (await run(statements.selectRing)).rows;
  const time = (value: unknown) => (value === null || value === undefined ? undefined : +value);
  return {
    claimed: Number(row?.['claimed']),
    due: time(row?.['due']),
    rungAt: time(ring?.['rung_at']),
  };
}

export function mark(calls: Calls): Promise<string> {
  return calls.sessions.use(({ run }) => markBy(run));
}

export function rise(calls: Calls, pod: PodId): Promise<void> {
  return calls.change(
    (reading) => gatherPods(reading, [pod]),
    (tables) => rules.rise(tables, pod),
  );
}

/** Few of them are ever there; it is done with what else has grown old. */
export async function forgetRings(calls: Calls): Promise<void> {
  await calls.sessions.use(({ run }) => run(statements.deleteRings, [OLD_RING_MS]));
}

/** Tasks of dead pods, tasks that nobody can run, and what ended long ago. */

import * as retention from '../memory/retention.ts';
import * as rules from '../memory/take.ts';
import type { Pruned } from '../pods.ts';
import type { TakenTask, Taking, TaskRow } from '../tasks.ts';
import type { Calls } from './calls.ts';
import { AUDIT_LOG, POD_HEALTH, STEP_TRACKER } from './columns.ts';
import {
  gather,
  gatherFacts,
  gatherFleet,
  gatherHistory,
  gatherPods,
  type Reading,
} from './gather.ts';
import * as statements from './recovery.sql.ts';
import { forgetRings } from './rest.ts';
import { limitOf } from './sql.ts';

const ATTEMPTS_MAX = 5;

/** Once for each epoch, however many sweep: whoever is second finds another `rev`. */
export async function take(calls: Calls, taking: Taking): Promise<TakenTask[]> {
  const { from, by, to } = taking;
  for (let attempt = 1; ; attempt += 1) {
    const { result, wanted, written } = await calls.changeEach(
      async (reading) => {
        await gatherPods(reading, [from, by]);
        await gatherTaken(reading, taking);
      },
      (tables) => rules.take(tables, taking),
      { isSure: true, ...(to === 'taker' ? { fence: { pod: by, is: 'up' } as const } : {}) },
    );
    const taken = result.filter(({ task }) => written.has(task));
    if (taken.length > 0 || wanted.size === 0 || attempt >= ATTEMPTS_MAX) return taken;
  }
}

async function gatherTaken(reading: Reading, taking: Taking): Promise<void> {
  const { from, countMax, only } = taking;
  const text = statements.selectHeldBy(only, limitOf(countMax));
  const claims = typeof only === 'object' ? [JSON.stringify(only.map(({ task }) => task))] : [];
  await gather(reading, STEP_TRACKER, text, [from, ...claims]);
  await gatherHistory(reading, [...reading.desk.tables.tasks.keys()], true);
}

export async function failHopeless(
  calls: Calls,
  graceMs: number,
  countMax: number,
): Promise<TaskRow[]> {
  const { result, written } = await calls.changeEach(
    (reading) => gatherHopeless(reading, limitOf(countMax)),
    (tables) => retention.failHopeless(tables, graceMs, countMax),
    { isSure: true },
  );
  return result.filter(({ id }) => written.has(id));
}

async function gatherHopeless(reading: Reading, limit: number): Promise<void> {
  await gatherFacts(reading, 'route');
  await gatherFleet(reading);
  const machines = [...reading.desk.tables.registry.values()].map(({ machine }) => machine);
  const binds = [JSON.stringify([...new Set(machines)])];
  await gather(reading, STEP_TRACKER, statements.selectDoubtful(limit), binds);
}

/** Of what may be hopeless or old, some are enough to know that there is something to do. */
const GLANCE = 64;

export function hasHopeless(calls: Calls, graceMs: number): Promise<boolean> {
  return calls.look(
    (reading) => gatherHopeless(reading, GLANCE),
    (tables) => retention.hasHopeless(tables, graceMs),
  );
}

export function hasOld(
  calls: Calls,
  finishedBeforeMs: number,
  auditedBeforeMs?: number,
): Promise<boolean> {
  return calls.look(
    async (reading) => {
      await gather(reading, STEP_TRACKER, statements.selectStaleKeys(1), []);
      await gatherOld(reading, finishedBeforeMs, GLANCE, auditedBeforeMs);
    },
    (tables) => retention.hasOld(tables, finishedBeforeMs, auditedBeforeMs),
  );
}

export async function prune(
  calls: Calls,
  finishedBeforeMs: number,
  countMax: number,
  auditedBeforeMs?: number,
): Promise<Pruned> {
  // Keys first, and by themselves: a task that loses its key here may be a parent.
  const keys = await calls.changeEach(
    (reading) => gather(reading, STEP_TRACKER, statements.selectStaleKeys(limitOf(countMax)), []),
    (tables) => retention.freeKeys(tables, countMax),
  );
  const { result } = await calls.changeEach(
    async (reading) => {
      await gatherOld(reading, finishedBeforeMs, limitOf(countMax), auditedBeforeMs);
      await gatherHistory(reading, [...reading.desk.tables.tasks.keys()], true);
    },
    (tables) => retention.prune(tables, finishedBeforeMs, countMax, auditedBeforeMs),
    { isSure: true },
  );
  await forgetRings(calls);
  return { ...result, isMore: result.isMore || keys.result === limitOf(countMax) };
}

async function gatherOld(
  reading: Reading,
  finishedBeforeMs: number,
  limit: number,
  auditedBeforeMs: number | undefined,
): Promise<void> {
  await gather(reading, STEP_TRACKER, statements.selectOld(limit), [finishedBeforeMs]);
  await gather(reading, POD_HEALTH, statements.selectDown, [finishedBeforeMs]);
  await gatherFacts(reading, 'bulk', 'throttle', 'term');
  if (auditedBeforeMs === undefined) return;
  await gather(reading, AUDIT_LOG, statements.selectOldAudits(limit), [auditedBeforeMs]);
}

/** What a filter may ask of a task, told by its row. */
import { type Fact, type Facts, failureOf } from '../query/index.ts';
import type { TaskGlance } from './reader.ts';
import { SUSPECT_CRASHES } from './words.ts';

/** `isBlocked` is told by who is up, and by no row. */
export function factsOfTask(row: TaskGlance, isBlocked: boolean): Facts {
  return {
    id: row.id,
    machine: row.machine,
    version: row.version,
    status: row.status,
    outcome: row.outcome,
    queue: row.queue,
    pod: row.claimedBy,
    key: row.key,
    wait: row.waitFor,
    error: failureOf(row.error),
    is: isOf(row, isBlocked),
    priority: row.priority,
    retries: row.retryCount,
    crashes: row.crashes,
    claims: row.claims,
    generation: row.generation,
    created: row.createdAt,
    updated: row.updatedAt,
    finished: row.finishedAt,
    due: row.runAt,
  };
}

function isOf(row: TaskGlance, isBlocked: boolean): Fact[] {
  const hasEnded = row.finishedAt !== undefined;
  const isDiscarded = row.discardedAt !== undefined;
  const told: Record<Fact, boolean> = {
    unfinished: !hasEnded,
    finished: hasEnded,
    paused: row.isPaused,
    suspect: !hasEnded && row.crashes >= SUSPECT_CRASHES,
    pinned: row.pinnedTo !== undefined,
    blocked: isBlocked,
    'dead-letter': row.status === 'failed' && !isDiscarded,
    discarded: isDiscarded,
  };
  return (Object.keys(told) as Fact[]).filter((fact) => told[fact]);
}

/**
 * What the witness saw of one row: writes by those who no longer owned it, and ends that are not
 * those of its history.
 */
import { isDeepStrictEqual } from 'node:util';
import type { History } from './history.ts';
import type { Change, TaskFile } from './witness.ts';

const ENDED = ['completed', 'failed', 'cancelled'];

export function isEnded(status: string): boolean {
  return ENDED.includes(status);
}

/** In words: every change that an owner of the past, or nobody at all, has made. */
export function zombieWrites(
  { row, changes, segments }: TaskFile,
  history: History | undefined,
  deadAt: ReadonlyMap<string, number>,
): string[] {
  const owners = new Map<number, string>();
  const epochs = new Map(history?.stops.map(({ hash, epoch }) => [hash, epoch]));
  const claimedAt = new Map<number, number>();
  return changes.flatMap((change) => {
    const { owner, epoch, at, wasEpoch, hash } = change;
    if (owner !== undefined) claimedAt.set(epoch, at);
    const claimedMs = claimedAt.get(wasEpoch) ?? 0;
    // The run had ended, and was in the store, before its last owner got it: that one only said so.
    const wasThere = segments.some((part) => part.lastHash === hash && part.at <= claimedMs);
    const faults = faultsOf(change, epochs, owners, deadAt, wasThere);
    return faults.map((words) => `${row.task}: ${words}`);
  });
}

function faultsOf(
  change: Change,
  epochs: ReadonlyMap<string, number>,
  owners: Map<number, string>,
  deadAt: ReadonlyMap<string, number>,
  wasThere: boolean,
): string[] {
  const { wasStatus, status, wasEpoch, epoch, wasOwner, owner } = change;
  const faults: string[] = [];
  const isSameRun = change.generation === change.wasGeneration;
  if (epoch < wasEpoch) faults.push(`the epoch fell from ${wasEpoch} to ${epoch}`);
  if (owner !== undefined && owner !== wasOwner && epoch <= wasEpoch) {
    faults.push(`${owner} got it under epoch ${epoch}, which was there before`);
  }
  if (owner !== undefined) {
    const known = owners.get(epoch) ?? owner;
    if (known !== owner) faults.push(`epoch ${epoch} has two owners, ${known} and ${owner}`);
    owners.set(epoch, owner);
  }
  if (wasStatus !== undefined && isEnded(wasStatus) && isSameRun) {
    const isTouched =
      status !== wasStatus ||
      epoch !== wasEpoch ||
      change.hash !== change.wasHash ||
      change.outcome !== change.wasOutcome;
    if (isTouched) faults.push(`it was ${wasStatus}, and became ${status} after that`);
  }
  if (change.hash === change.wasHash || change.hash === undefined) return faults;
  // Only a settlement moves the end of the history.
  if (wasStatus !== 'claimed') faults.push(`it was settled while it was ${wasStatus}`);
  const author = epochs.get(change.hash);
  if (author !== wasEpoch && !(wasThere && author !== undefined && author < wasEpoch)) {
    const by = author === undefined ? 'records that do not count' : `epoch ${author}`;
    faults.push(`it was settled by ${by} while epoch ${wasEpoch} had it`);
  }
  const diedAt = wasOwner === undefined ? undefined : deadAt.get(wasOwner);
  if (diedAt !== undefined && diedAt < change.at) {
    faults.push(`it was settled by ${wasOwner} after that pod was dead`);
  }
  return faults;
}

/** In words, where the row does not end as its history does. */
export function wrongEnd({ row }: TaskFile, history: History | undefined): string | undefined {
  // Nobody was there to record it: the sweep ended it.
  if (row.outcome === 'crashLoop') return undefined;
  const stop = history?.stops.at(-1);
  const ending = history?.ending;
  if (!stop || !ending) return `${row.task}: it is ${row.status}, and its history has no end`;
  if (ending.outcome !== row.outcome) {
    return `${row.task}: it is ${row.outcome}, and its history ${ending.outcome}`;
  }
  if (stop.seq !== row.lastSeq || stop.hash !== row.lastHash) {
    return `${row.task}: its row ends at ${row.lastSeq}, and its history at ${stop.seq}`;
  }
  const result = row.result === undefined ? undefined : JSON.parse(row.result);
  if (isDeepStrictEqual(result, ending.output)) return undefined;
  return `${row.task}: its result is not what its history says`;
}

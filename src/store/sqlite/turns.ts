/**
 * Serial keys: of one queue and one key, one task at a time has the turn, until it ends. Whoever ends
 * it gives the turn on in the same transaction; what came in or became due meanwhile is looked at by
 * every claim, each task once.
 */
import type { RunId } from '../../ground/index.ts';
import type { Tx } from './session.ts';
import * as sql from './turns.sql.ts';

/** What one claim looks at; the next one goes on. */
const ARRIVAL_COUNT_MAX = 500;

export interface SerialKey {
  readonly queue: string;
  readonly serial_key: string;
}

interface Arrival extends SerialKey {
  readonly task_id: RunId;
}

export function lookAtArrivals(tx: Tx): void {
  const found = tx.all<Arrival>(sql.selectArrivals, { now: tx.now, count: ARRIVAL_COUNT_MAX });
  const holders = new Map<string, RunId>();
  for (const { task_id: task, queue, serial_key } of found) {
    const name = JSON.stringify([queue, serial_key]);
    const holder = holders.get(name) ?? passOn(tx, { queue, serial_key });
    if (holder === undefined) continue;
    holders.set(name, holder);
    if (holder !== task) tx.run(sql.markArrival, { task, holder });
  }
}

/** Whose turn it is: whoever has it, or else the next one. `from`: its place is not before that. */
export function passOn(tx: Tx, { queue, serial_key }: SerialKey, from = 0): RunId | undefined {
  const key = { queue, serial_key };
  const holder = tx.get<Pick<Arrival, 'task_id'>>(sql.selectHolder, key);
  return (holder ?? tx.get<Pick<Arrival, 'task_id'>>(sql.giveTurn, { ...key, from, now: tx.now }))
    ?.task_id;
}

/** The task may have ended, or given its turn back. True where another has the turn now. */
export function passOnAfter(tx: Tx, task: RunId): boolean {
  const key = tx.get<SerialKey>(sql.selectSerial, { task });
  if (!key) return false;
  const holder = passOn(tx, key);
  return holder !== undefined && holder !== task;
}

/** What a life does for runs that persist in the store, and what it hears of them. */
import type { Settlement } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { HeldRun } from './held-run.ts';
import { type PersistPorts, PersistTx } from './persist-tx.ts';

export interface Persisting {
  /** A transaction of the store; it costs nothing until it is used. */
  begin(): PersistTx;
  /** Its claim did not stand when it was to persist. */
  lost(held: HeldRun): void;
  /** The store has its end, by the transaction in which it persisted, and so has this disk. */
  settled(held: HeldRun, to: Settlement['to']): void;
  /** The store has so many of the records that it did not have. */
  stored(count: number): void;
}

export interface PersistingPorts extends PersistPorts {
  readonly drop: (held: HeldRun) => void;
  readonly over: (over: readonly HeldRun[], lost?: ReadonlySet<HeldRun>) => void;
  readonly holdings: { unflushed: number };
}

export function persistingOf(ports: PersistingPorts): Persisting {
  const { drop, over, holdings } = ports;
  return {
    begin: () => new PersistTx(ports),
    lost: (held) => {
      tell('claim.lost', () => ({ ...held.claim, run: held.claim.task, what: 'persist' }));
      drop(held);
      over([held], new Set([held]));
    },
    settled: (held, to) => {
      const { task: run, ...of } = held.claim;
      tell('task.settled', () => ({ run, ...of, to }));
      over([held]);
    },
    stored: (count) => {
      holdings.unflushed -= count;
    },
  };
}

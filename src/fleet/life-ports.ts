/** What one life of a pod is given, and what it asks the store for. */
import { describeError, type RunId } from '../ground/index.ts';
import {
  type BeatAnswer,
  type ClaimRequest,
  type JournalSeen,
  lookAfterMs,
  type Notice,
  type PodId,
} from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { Acceptor } from './acceptor.ts';
import { Archiver, type ArchiverPorts } from './archiver.ts';
import { audible } from './audible.ts';
import type { Claimer } from './claimer.ts';
import { Grants } from './grants.ts';
import type { Heart, HeartOptions } from './heart.ts';
import type { HeldRun } from './held-run.ts';
import type { Holdings } from './holdings.ts';
import type { Life } from './life.ts';
import type { Memory } from './memory.ts';
import type { PodPorts } from './options.ts';
import { Rewinder, type RewinderPorts } from './rewinder.ts';

export interface LifePorts extends PodPorts {
  readonly id: PodId;
  readonly memory: Memory;
  /** The pod has been taken for dead, or found a clone of itself. */
  readonly onDead: (why: string) => void;
  readonly onDrainWanted: () => void;
  /** Tasks have been settled. */
  readonly onEnded: () => void;
  /** After every heartbeat that was taken. */
  readonly onBeat: (life: Life) => void;
}

export function heartOf(
  { makeHeart, id: pod, clock, random, times }: LifePorts,
  on: Pick<HeartOptions, 'nonce' | 'news' | 'onHeard'>,
): Heart {
  const { heartbeatMs, silentMs } = times;
  return audible(makeHeart, {
    ...{ pod, clock, heartbeatMs, silentMs, ...on },
    mintNonce: () => random.hex(8),
    onFailed: (error) =>
      tell('store.failed', () => ({ what: 'beat', error: describeError(error) })),
  });
}

export function grantsOf({ id: pod, store, clock, random, times, throttles }: LifePorts) {
  const { heartbeatMs } = times;
  return throttles && new Grants({ pod, store, clock, random, heartbeatMs, throttles });
}

export function acceptorOf(ports: LifePorts, keeper: Life): Acceptor {
  const { id: pod, limits, journal } = ports;
  const { payloadBytesMax } = limits;
  const { holdings } = keeper;
  return new Acceptor({ ...ports, holdings, keeper, pod, payloadBytesMax, journal: journal.id });
}

export function deathOf({ status }: Extract<BeatAnswer, { kind: 'refused' }>): string {
  const isDead = status === 'dead' || status === 'down';
  return isDead ? 'the fleet took it for dead' : 'another process beats in its name';
}

/** Those whose death this disk proves. Others with this journal are left to the sweep, which waits. */
export function predecessorsOf({ id, journal }: LifePorts, seen: JournalSeen): PodId[] {
  const before = seen.pods.map(({ pod }) => pod).filter((pod) => pod !== id);
  const dead = before.filter((pod) => journal.owners.provesDead(pod));
  // Should this process die half way, the next one has the same proof.
  journal.owners.add(dead);
  return dead;
}

/** How many more it may hold; 0 where too much of what it has is on its way to the store. */
export function roomIn(
  holdings: Holdings,
  count: number,
  settling: number,
  unflushedMax: number,
): number {
  if (holdings.unflushed >= unflushedMax || settling > count) return 0;
  // What is on its way to the store needs no slot any more, and the next may come meanwhile.
  return Math.max(0, count - (holdings.claimedCount - settling));
}

export function rewinderOf(
  ports: LifePorts,
  { holdings, isOver }: Pick<RewinderPorts, 'holdings' | 'isOver'>,
): Rewinder {
  const { store, clock, engine, id: pod, memory } = ports;
  const { enqueued = () => [], reshow = () => undefined } = ports;
  const written = (run: RunId) => engine.held.written(run);
  return new Rewinder({
    ...{ store, clock, pod, memory, holdings, isOver },
    written,
    enqueued,
    reshow,
  });
}

export function archiverOf(
  { clock, random, times }: LifePorts,
  {
    lose,
    ...of
  }: Pick<ArchiverPorts, 'store' | 'holdings'> & { readonly lose: (held: HeldRun) => void },
): Archiver {
  return new Archiver({
    ...{ clock, random, everyMs: times.archiveMs, ...of },
    onForked: (held, reason) => {
      tell('journal.alarm', () => ({ kind: 'forked', message: reason }));
      lose(held);
    },
  });
}

/** What it claims, but for how much. */
export function requestOf(ports: LifePorts): Omit<ClaimRequest, 'countMax' | 'token'> {
  return {
    pod: ports.id,
    routes: ports.routes.all,
    journal: ports.journal.id,
    head: ports.isSuspectsOnly ? 'suspect' : 'ready',
    payloadBytesMax: ports.limits.payloadBytesMax,
  };
}

/** The fleet was notified that something is ready: `notice` says which pods look, and when. */
export function notified(claimer: Claimer, pod: PodId, notice: Notice | undefined): void {
  if (notice) claimer.notified(lookAfterMs(notice, pod));
  else claimer.hint();
}

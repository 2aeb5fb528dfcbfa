/** What a pod is given, and the relations its times have to keep. */
import type { Engine } from '../engine/index.ts';
import {
  type Clock,
  FleetqError,
  type Json,
  type Pressure,
  type Random,
  type RunId,
} from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import type { Registry } from '../machine/index.ts';
import type { ClaimedTask, Store } from '../store/index.ts';
import type { Throttles } from '../throttle/index.ts';
import type { ChangedMachines } from './announce.ts';
import type { MakeHeart } from './heart.ts';
import type { Routes } from './routes.ts';

export interface PodTimes {
  readonly heartbeatMs: number;
  /** Silence after which a pod is taken for dead. */
  readonly silentMs: number;
  /** How often records that are not settled yet go to the store. */
  readonly archiveMs: number;
  /** The longest wait between two looks for tasks. */
  readonly idlePollMs: number;
}

export interface PodLimits {
  readonly slots: number;
  /** Records that may be waiting for the archive; beyond it nothing is claimed. */
  readonly unflushedMax: number;
  /** The largest payload a task may bring. */
  readonly payloadBytesMax: number;
}

export interface PodPorts {
  readonly store: Store;
  readonly engine: Engine;
  readonly journal: Journal;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly random: Random;
  readonly makeHeart: MakeHeart;
  /** How hard the process has worked since it was last asked. */
  readonly pressure: () => Pressure;
  /** For people. */
  readonly name: string;
  /** Of FleetQ, for people. */
  readonly version: string;
  /** Rows of this very journal have become this pod's. */
  readonly adoptLocal: (tasks: readonly ClaimedTask[]) => Promise<void>;
  /** What this process was lately told to be enqueued; undefined where nobody enqueues. */
  readonly enqueued?: (() => readonly RunId[]) | undefined;
  /** The fleet has lost sight of runs of this host: of these, or of any that have ended. */
  readonly reshow?: ((runs: readonly RunId[]) => void) | undefined;
  /** What else its heartbeats report. */
  readonly news?: (() => { readonly [key: string]: Json }) | undefined;
  readonly changedMachines: ChangedMachines;
  /** True, once, where the tables were found to fit and the machines announced just before. */
  readonly isWarm?: (() => boolean) | undefined;
  /** What it claims. */
  readonly routes: Routes;
  /** A process of its own for tasks whose owners have died: it claims nothing else. */
  readonly isSuspectsOnly: boolean;
  /** What APIs its runs call, and how much; undefined where nobody is to know of it. */
  readonly throttles?: Throttles | undefined;
  readonly times: PodTimes;
  readonly limits: PodLimits;
}

/** Times that do not fit together would make live pods look dead. */
export class PodTimesError extends FleetqError {
  readonly code = 'FLEETQ_POD_TIMES';
  readonly verdict = 'abort';
}

/** Timers, and columns, hold no more than weeks; whoever wants more has mistaken the unit. */
const SILENCE_MS_MAX = 24 * 3_600_000;
const ARCHIVE_MS_MAX = 3_600_000;

export function checkTimes({ heartbeatMs, silentMs, archiveMs }: PodTimes): void {
  const refuse = (message: string, hint: string) => {
    throw new PodTimesError(message, { hint });
  };
  if (heartbeatMs < 50)
    refuse(`a heartbeat every ${heartbeatMs} ms is too often`, 'use 50 ms or more');
  if (silentMs < 3 * heartbeatMs) {
    refuse(
      `silence (${silentMs} ms) must outlast three heartbeats (of ${heartbeatMs} ms), ` +
        'or the sweep takes live pods for dead',
      `set it to ${3 * heartbeatMs} ms or more`,
    );
  }
  if (silentMs > SILENCE_MS_MAX) {
    refuse(
      `a silence of ${silentMs} ms is too long`,
      'use a day or less: nobody is rescued before',
    );
  }
  if (archiveMs > ARCHIVE_MS_MAX) {
    refuse(`an archive every ${archiveMs} ms is too seldom`, 'use an hour or less');
  }
  if (archiveMs < 10) refuse(`an archive every ${archiveMs} ms is too often`, 'use 10 ms or more');
}

/**
 * How a pod that has nothing to do lets go of its place, where every question costs: its row goes down by
 * its own word, it beats no more, and looks only at a mark that changes when there is work. Then it
 * registers anew, as another life. Nobody sweeps one that rests, for it holds nothing.
 */
import type { PodId } from './words.ts';

export interface RestTimes {
  /** It has had nothing in hand for so long. */
  readonly afterMs: number;
  /** How often the mark is looked at: at first, and after a while. */
  readonly lookMsMin: number;
  readonly lookMsMax: number;
}

export interface Repose {
  /** Another one means that there may be work. */
  readonly mark: string;
  /** Until something is due that is there already; undefined where nothing is. */
  readonly wakeInMs: number | undefined;
}

export interface Resting {
  /**
   * up → down, marked as resting, where nobody holds anything, nothing is due soon, and nobody has died
   * or put anything in lately; undefined otherwise, and then nothing has changed.
   */
  rest(pod: PodId): Promise<Repose | undefined>;
  /** Cheap: wakes nothing that has gone to sleep. */
  mark(): Promise<string>;
  /** The process of a pod that rests ends: it rests no more. */
  rise(pod: PodId): Promise<void>;
}

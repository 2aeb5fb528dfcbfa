/** What a case of the crash table is, and the places where its pods are struck. */
import type { Hook } from './hooks.ts';
import type { Ground } from './rig.ts';
import type { Disk } from './table.ts';

export interface Case {
  readonly row: number;
  readonly disk: Disk;
  readonly name: string;
  /** Where nobody may sweep before the disk is back, or where the case brings its own pods. */
  readonly isAlone: boolean;
  /** Left out unless everything is asked for. */
  readonly isExtra?: boolean;
  run(ground: Ground, machine: string): Promise<void>;
}

/** Nothing is archived before the end. */
export const NEVER_MS = 3_600_000;

export const store = (verb: string, when: 'before' | 'after', nth = 1): Hook => ({
  at: 'store',
  verb,
  when,
  nth,
  act: 'kill',
});
export const phase = (place: string, moment: 'begun' | 'half' | 'done'): Hook => ({
  at: 'phase',
  place,
  moment,
  act: 'kill',
});
export const append = (
  when: 'before' | 'buffered' | 'after',
  event: string,
  state?: string,
): Hook => ({
  at: 'append',
  when,
  event,
  ...(state === undefined ? {} : { state }),
  act: 'kill',
});

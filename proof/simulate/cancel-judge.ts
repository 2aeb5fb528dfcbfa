/**
 * What people ask of a run in hand is not ignored: once its owner has heard of a cancel or of a pause,
 * no phase of the run begins any more; after a cancel nothing but its end is recorded.
 */
import type { LiveRun } from '../../src/engine/live-run.ts';
import type { Entry } from '../../src/journal/index.ts';
import type { BeatAnswer } from '../../src/store/pods.ts';
import type { World } from './world.ts';

export class CancelJudge {
  readonly #world: World;
  /** By task and epoch: whose owner knows. */
  readonly #told = new Set<string>();
  /** The same of pauses. Taking one back is too late then: the next owner goes on. */
  readonly #pausing = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** An owner hears what is wanted of the runs it has. */
  heard(answer: BeatAnswer, liveRun: (task: LiveRun['id']) => LiveRun | undefined): void {
    if (answer.kind !== 'taken') return;
    for (const { task, epoch, control } of answer.controls) {
      const run = liveRun(task);
      const told = control === 'cancel' ? this.#told : this.#pausing;
      if (run?.tie?.epoch !== epoch || told.has(`${task} ${epoch}`)) continue;
      if (run.isLost || run.state.ending) continue;
      this.#world.count(`judged ${control}s`);
      told.add(`${task} ${epoch}`);
    }
  }

  begins(run: string, epoch: number, what: string): void {
    if (this.#told.has(`${run} ${epoch}`)) {
      this.#world.violate('cancel', `${what} of ${run} began, and its owner was told to cancel it`);
    }
    if (this.#pausing.has(`${run} ${epoch}`)) {
      this.#world.violate('I40', `${what} of ${run} began, and its owner was told to pause it`);
    }
  }

  appended({ run, epoch, event }: Entry): void {
    if (event.type === 'CANCELLED' || !this.#told.has(`${run} ${epoch}`)) return;
    const how = `recorded ${event.type}, and its owner was told to cancel it`;
    this.#world.violate('cancel', `${run} has ${how}`);
  }
}

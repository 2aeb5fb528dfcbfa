/**
 * A cancel that was noted is not ignored: once the owner of a run has heard of it, no phase of the run
 * begins any more, and nothing but its end is recorded.
 */
import type { LiveRun } from '../../src/engine/live-run.ts';
import type { Entry } from '../../src/journal/index.ts';
import type { BeatAnswer } from '../../src/store/pods.ts';
import type { World } from './world.ts';

export class CancelJudge {
  readonly #world: World;
  /** By task and epoch: whose owner knows. */
  readonly #told = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** An owner hears what is wanted of the runs it has. */
  heard(answer: BeatAnswer, liveRun: (task: LiveRun['id']) => LiveRun | undefined): void {
    if (answer.kind !== 'taken') return;
    for (const { task, epoch, control } of answer.controls) {
      const run = liveRun(task);
      if (control !== 'cancel' || run?.tie?.epoch !== epoch) continue;
      if (run.isLost || run.state.ending || this.#told.has(`${task} ${epoch}`)) continue;
      this.#world.count('judged cancels');
      this.#told.add(`${task} ${epoch}`);
    }
  }

  begins(run: string, epoch: number, what: string): void {
    if (!this.#told.has(`${run} ${epoch}`)) return;
    this.#world.violate('cancel', `${what} of ${run} began, and its owner was told to cancel it`);
  }

  appended({ run, epoch, event }: Entry): void {
    if (event.type === 'CANCELLED' || !this.#told.has(`${run} ${epoch}`)) return;
    const how = `recorded ${event.type}, and its owner was told to cancel it`;
    this.#world.violate('cancel', `${run} has ${how}`);
  }
}

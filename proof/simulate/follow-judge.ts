/**
 * Tasks that follow another: none is let go before that one has ended as it has to, none is kept once it
 * has, and none is ended for want of a success that may still come. A dead letter may: whoever wants its
 * success waits for what people decide of it.
 */
import type { Act } from '../../src/store/acts.ts';
import { isEnded, type TaskRecord } from '../../src/store/memory/tables.ts';
import { FOLLOWED_NOT_COMPLETED } from '../../src/store/reasons.ts';
import type { Store } from '../../src/store/store.ts';
import type { EnqueueAnswer } from '../../src/store/tasks.ts';
import type { World } from './world.ts';

/** What it has to become of one that follows a task which is so. */
type Due = 'go' | 'end' | 'wait';

export class FollowJudge {
  readonly #world: World;
  /** Those that wait. */
  readonly #waiting = new Map<string, TaskRecord>();
  readonly #all = new Set<string>();
  /** Those that may not begin, by whatever the tables say. */
  readonly #held = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  enqueued(answers: readonly EnqueueAnswer[]): void {
    for (const { id, isNew } of answers) {
      const task = this.#world.tables.tasks.get(id);
      if (!isNew || task?.follows === undefined) continue;
      this.#waiting.set(id, task);
      this.#held.add(id);
      this.#all.add(id);
    }
  }

  begins(run: string, what: string): void {
    if (this.#all.has(run)) this.#world.count('judged followers');
    if (!this.#held.has(run)) return;
    this.#world.violate('follow', `${run} began ${what}, and what it follows is not over`);
  }

  /** After a call: judges whom it let go, and answers whom. */
  look(verb: keyof Store, given: readonly unknown[]): readonly string[] {
    if (this.#waiting.size === 0) return [];
    const act = verb === 'act' ? (given[0] as Act) : undefined;
    const gone: string[] = [];
    // What ends may be followed itself: by the time they are judged all of them are as they will be.
    for (const [id, task] of this.#waiting) {
      const due = this.#dueOf(task);
      if (task.waitFor === 'run') {
        if (due !== 'wait') this.#fault(task, `waits after ${verb}, and is to ${due}`);
        continue;
      }
      this.#waiting.delete(id);
      gone.push(id);
      this.#judge(task, due, act);
    }
    return gone;
  }

  /** It waits no more, by this act or by what has become of the one it follows. */
  #judge(task: TaskRecord, due: Due, act: Act | undefined): void {
    const { taskId, error } = task;
    const isByItself = act?.task === taskId;
    if (!isEnded(task)) {
      this.#held.delete(taskId);
      // Somebody who gives it a time has decided that it follows nobody.
      if (isByItself && act?.deed.what === 'reschedule') return this.#world.count('unfollowed');
      this.#world.count(`followers let go after ${this.#followed(task)?.status}`);
      if (due !== 'go') this.#fault(task, `was let go, and is to ${due}`);
    } else if (error === FOLLOWED_NOT_COMPLETED) {
      this.#world.count('followers ended');
      if (due !== 'end') this.#fault(task, `was ended, and is to ${due}`);
    } else if (!isByItself) this.#fault(task, `ended as ${task.outcome}, and nobody asked for it`);
  }

  #followed({ follows }: TaskRecord): TaskRecord | undefined {
    return this.#world.tables.tasks.get(follows!.run);
  }

  #dueOf(task: TaskRecord): Due {
    const { on } = task.follows!;
    const followed = this.#followed(task);
    if (!followed) return on === 'end' ? 'go' : 'end';
    if (!isEnded(followed)) return 'wait';
    if (on === 'end' || followed.status === 'completed') return 'go';
    return followed.status === 'cancelled' || followed.discardedAt !== undefined ? 'end' : 'wait';
  }

  #fault({ taskId, follows }: TaskRecord, how: string): void {
    const { run, on } = follows!;
    const status = this.#world.tables.tasks.get(run)?.status ?? 'gone';
    this.#world.violate('follow', `${taskId} ${how}: it follows (${on}) ${run}, ${status}`);
  }
}

/**
 * Deploys: who is started again gets the code that is being rolled out, or by mistake the other one; and
 * now and then the fleet is rolled, one pod after the other, to the other code or back. When everything
 * is healed all pods get code that has everything, so that whatever waits for a version goes on.
 */
import type { Random } from '../../src/ground/index.ts';
import type { SimPod } from './sim-pod.ts';
import type { Code } from './versions.ts';
import type { World } from './world.ts';

/** In every second fleet somebody starts a pod with the code that is not wanted any more, so often. */
const MISTAKEN = 0.15;
/** So often all pods are replaced at once, and not one after the other. */
const AT_ONCE = 0.4;
/** So many drains are cut short by a kill. */
const IMPATIENT = 0.25;
const EVERY_MS = [2_000, 7_000] as const;
const APART_MS_MAX = 600;
export const REPLACED_MS_MAX = 800;

export class Deploys {
  readonly #world: World;
  /** Of its own, so that nothing else in a seed depends on whether there are deploys. */
  readonly chance: Random;
  readonly #mistaken: number;
  #target: Code = 'v1';

  constructor(world: World) {
    this.#world = world;
    this.chance = world.fork();
    this.#mistaken = this.chance.fraction() < 0.5 ? MISTAKEN : 0;
  }

  /** What the next process is started with. */
  nextCode(): Code {
    if (this.#target === 'both' || this.chance.fraction() >= this.#mistaken) return this.#target;
    return otherThan(this.#target);
  }

  storm(untilMs: number, alive: () => readonly SimPod[]): void {
    const next = () => {
      if (this.#target === 'both' || this.#world.nowMs >= untilMs) return;
      this.#target = otherThan(this.#target);
      this.#world.say('world', `is deployed to ${this.#target}`);
      this.#world.count('deploys');
      this.#roll(alive());
      this.#after(this.#within(...EVERY_MS), next);
    };
    this.#after(this.#within(...EVERY_MS), next);
  }

  heal(alive: readonly SimPod[]): void {
    this.#target = 'both';
    this.#roll(alive);
  }

  #roll(pods: readonly SimPod[]): void {
    let atMs = 0;
    const apartMs = this.chance.fraction() < AT_ONCE ? 0 : APART_MS_MAX;
    for (const pod of pods) {
      atMs += this.#within(0, apartMs);
      const isImpatient = this.chance.fraction() < IMPATIENT;
      this.#after(atMs, () => {
        if (pod.code === this.#target || pod.hasEnded) return;
        pod.isReplaced = true;
        pod.drain();
        if (isImpatient) this.#after(this.#within(0, 300), () => pod.kill());
      });
    }
  }

  #within(fromMs: number, toMs: number): number {
    return fromMs + this.chance.fraction() * (toMs - fromMs);
  }

  #after(ms: number, act: () => void): void {
    this.#world.schedule.at(this.#world.nowMs + ms, act);
  }
}

function otherThan(code: Code): Code {
  return code === 'v1' ? 'v2' : 'v1';
}

/** Those who look on by a session: when it ends, wherever it was ended, they are told no more. */
import type { Clock } from '../../ground/index.ts';
import { Every } from './every.ts';

interface Guarded {
  bye(why: 'session'): void;
}

/** Whether whoever asked may not be told any more. */
export type IsOver = () => Promise<boolean>;

const LOOK_EVERY_MS = 1_000;

export class Guards {
  readonly #guarded = new Map<Guarded, IsOver>();
  readonly #look: Every;

  constructor(clock: Clock) {
    this.#look = new Every(clock, LOOK_EVERY_MS, async () => {
      for (const [who, isOver] of [...this.#guarded]) if (await isOver()) who.bye('session');
    });
  }

  add(who: Guarded, isOver: IsOver | undefined): void {
    if (!isOver) return;
    this.#guarded.set(who, isOver);
    this.#look.start();
  }

  remove(who: Guarded): void {
    this.#guarded.delete(who);
    if (this.#guarded.size === 0) this.#look.stop();
  }
}

/** Connections that are lent for a while: so many at a time, and the others wait in line. */
import type { Cancel, Clock } from '../../ground/index.ts';
import { StoreUnreachableError } from '../errors.ts';

export class Lending {
  readonly #countMax: number;
  readonly #waitMsMax: number;
  readonly #clock: Clock;
  readonly #line = new Set<() => void>();
  #count = 0;

  constructor(countMax: number, waitMsMax: number, clock: Clock) {
    this.#countMax = countMax;
    this.#waitMsMax = waitMsMax;
    this.#clock = clock;
  }

  /** Returns what gives the place back. Rejects, and keeps no place, where none is free in time. */
  async take(): Promise<() => void> {
    if (this.#count < this.#countMax) this.#count += 1;
    else await this.#wait();
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      const [next] = this.#line;
      if (next) next();
      else this.#count -= 1;
    };
  }

  /** The place passes from the one who gives it back to the first in line. */
  #wait(): Promise<void> {
    return new Promise((resolve, reject) => {
      let cancel: Cancel = () => undefined;
      const next = () => {
        this.#line.delete(next);
        cancel();
        resolve();
      };
      this.#line.add(next);
      cancel = this.#clock.after(this.#waitMsMax, () => {
        this.#line.delete(next);
        const [count, ms] = [this.#countMax, this.#waitMsMax];
        const message = `none of ${count} connections for persist is free within ${ms} ms`;
        const hint = 'raise poolSize, or do what takes time in work';
        reject(new StoreUnreachableError(message, { hint }));
      });
    });
  }
}

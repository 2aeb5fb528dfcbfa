/** Does something again and again while it is wanted, never twice at once; keeps nobody awake. */
import type { Cancel, Clock } from '../../ground/index.ts';

export class Every {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #act: () => void | Promise<void>;
  #cancel: Cancel | undefined;
  #isOn = false;
  #isBusy = false;
  #isHurried = false;

  constructor(clock: Clock, ms: number, act: () => void | Promise<void>) {
    this.#clock = clock;
    this.#ms = ms;
    this.#act = act;
  }

  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#wait(this.#ms);
  }

  stop(): void {
    this.#isOn = this.#isHurried = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** The next time comes early: so soon from now, or after the one that is being done. */
  hurry(ms: number): void {
    if (!this.#isOn || this.#isHurried) return;
    this.#isHurried = true;
    if (!this.#isBusy) this.#wait(Math.min(ms, this.#ms));
  }

  #wait(ms: number): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(ms, () => void this.#do(), { idle: true });
  }

  async #do(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#isHurried = false;
    try {
      await this.#act();
    } finally {
      this.#isBusy = false;
      if (this.#isOn) this.#wait(this.#isHurried ? Math.min(100, this.#ms) : this.#ms);
    }
  }
}

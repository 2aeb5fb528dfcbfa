/** An API of known capacity, in the time of the test. */
import type { FakeClock } from '../support/fake-clock.ts';

export const LATENCY_MS = 400;

/** Takes so many calls at once, and refuses the rest; counts what it was asked. */
export class CountingApi {
  readonly #clock: FakeClock;
  readonly room: number;
  busy = 0;
  peak = 0;
  sent = 0;
  refused = 0;
  isDown = false;

  constructor(clock: FakeClock, room: number) {
    this.#clock = clock;
    this.room = room;
  }

  readonly call = (): Promise<string> => {
    this.sent++;
    if (this.isDown) throw Object.assign(new Error('down'), { status: 500 });
    if (this.busy >= this.room) {
      this.refused++;
      throw Object.assign(new Error('busy'), { status: 429 });
    }
    this.busy++;
    this.peak = Math.max(this.peak, this.busy);
    return new Promise((resolve) => {
      this.#clock.after(LATENCY_MS, () => {
        this.busy--;
        resolve('done');
      });
    });
  };
}

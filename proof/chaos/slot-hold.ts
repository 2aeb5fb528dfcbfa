/**
 * Local runs that no judge looks at. Some fill every slot of a pod, and wait, so that nothing else of this pod
 * has a slot; some end at once, and fill its journal with what stays there.
 */
import type * as Fleetq from '../../src/index.ts';
import { takes } from '../../test/support/any-schema.ts';

type Input = { readonly index: number; readonly padding?: string };

/** More than one page of the journal holds. */
const FILL_RUNS = 40;
const FILL_PADDING = 'x'.repeat(1_500);

export class SlotHold {
  readonly machine: Fleetq.Machine<Input>;
  readonly #slots: number;
  readonly #onFull: () => void;
  #over: Promise<void> | undefined;
  #release: () => void = () => undefined;
  #held = 0;

  constructor(
    { defineMachine }: Pick<typeof Fleetq, 'defineMachine'>,
    slots: number,
    onFull: () => void,
  ) {
    this.#slots = slots;
    this.#onFull = onFull;
    this.machine = defineMachine({
      name: 'hold',
      version: 1,
      input: takes<Input>(),
      check: 'none',
      work: () => this.#wait(),
    });
  }

  start(fleet: Fleetq.Fleet, holdMs: number): void {
    this.release();
    this.#over = new Promise((resolve) => {
      const timer = setTimeout(() => this.release(), holdMs);
      this.#release = () => {
        clearTimeout(timer);
        this.#over = undefined;
        resolve();
      };
    });
    for (let index = 0; index < this.#slots; index += 1) {
      // A journal that stalls meanwhile refuses it: then not all slots are held.
      fleet.startLocal(this.machine, { index }).catch(() => undefined);
    }
  }

  /** Resolves when all have ended that the journal took. */
  async fill(fleet: Fleetq.Fleet): Promise<void> {
    const runs = Array.from({ length: FILL_RUNS }, async (_, index) => {
      const run = await fleet.startLocal(this.machine, { index, padding: FILL_PADDING });
      await run.result();
    });
    await Promise.allSettled(runs);
  }

  release(): void {
    this.#release();
  }

  /** A run that an earlier process has left finds no hold, and ends. */
  async #wait(): Promise<void> {
    if (!this.#over) return;
    this.#held += 1;
    if (this.#held === this.#slots) this.#onFull();
    await this.#over;
    this.#held -= 1;
  }
}

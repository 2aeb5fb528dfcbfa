/**
 * For a store that says that processes read late what others wrote: whoever looks waits until it is seen,
 * but only where another handle has written. What a handle wrote itself it has to see at once; and no
 * change may rest on what was read late.
 */
import type { StoreReader } from '../../src/store/reader.ts';
import type { Store } from '../../src/store/store.ts';
import type { StoreHarness } from './harness.ts';

/** What tells how things are, claims among it: what is not seen yet is claimed later. */
const LOOKS = new Set(
  `find list watch pods worklist hasHopeless hasOld violations claim beat held heads histories outlines
   recordsIn inFlight hasSuspects census queues pausedMachines known abandoned throttles
   dueSchedules mayChange`.split(/\s+/),
);
/** Of those, what changes something as well. */
const BOTH: readonly string[] = ['claim', 'beat'];

type Verb = (...given: unknown[]) => Promise<unknown>;

export class Patience {
  readonly #harness: StoreHarness;
  /** Who has written since everything was seen. */
  readonly #writers = new Set<object>();
  #seeing: Promise<void> | undefined;

  constructor(harness: StoreHarness) {
    this.#harness = harness;
  }

  async open(): Promise<Store> {
    const store = await this.#harness.open();
    return this.#harness.seen ? this.#patient(store) : store;
  }

  #patient<Handle extends Store | StoreReader>(handle: Handle): Handle {
    const isReader = !('openReader' in handle);
    return new Proxy(handle, {
      get: (target, name: string) => {
        const verb = Reflect.get(target, name, target) as unknown;
        if (typeof verb !== 'function') return verb;
        const act: Verb = (...given) => verb.apply(target, given);
        if (name === 'close') return act;
        if (name === 'openReader') {
          return async (...given: unknown[]) => this.#patient((await act(...given)) as StoreReader);
        }
        return this.#asked(target, name, act, isReader || LOOKS.has(name));
      },
    });
  }

  #asked(by: object, name: string, act: Verb, isLook: boolean): Verb {
    const isChange = !isLook || BOTH.includes(name);
    return async (...given) => {
      if (isLook) await this.#seen(by);
      if (isChange) this.#writers.add(by);
      try {
        return await act(...given);
      } finally {
        if (isChange) this.#writers.add(by);
      }
    };
  }

  async #seen(by: object): Promise<void> {
    const others = [...this.#writers].filter((writer) => writer !== by);
    if (others.length > 0) {
      this.#writers.clear();
      this.#seeing = this.#harness.seen?.();
    }
    await this.#seeing;
  }
}

/**
 * Somebody who changes the limits of queues while the storm goes on, and lets queues and machines stand
 * still and go on. Whoever gets no answer sends the same request again. In the end everything goes on.
 */
import { pause } from '../../src/ground/index.ts';
import type { FlowDeed } from '../../src/store/queues.ts';
import type { Store } from '../../src/store/store.ts';
import { below } from '../../test/support/seeded-random.ts';
import type { Auditor } from './auditor.ts';
import { Link, storeFor } from './network.ts';
import { Process } from './process.ts';
import { SHAPES } from './shapes.ts';
import { QUEUES } from './wishes.ts';
import type { World } from './world.ts';

const EVERY_MS = 600;
const AGAIN_MS = 100;
const SEND_COUNT_MAX = 6;
const LIMIT_MAX = 4;

export class Gates {
  readonly #world: World;
  readonly #process: Process;
  readonly #store: Store;
  #count = 0;
  #sending = 0;
  #isHealed = false;

  constructor(world: World, auditor: Auditor, weather: Link, stormMs: number) {
    this.#world = world;
    this.#process = new Process(world.schedule, 'gates', world.seedOf());
    const link = new Link();
    this.#store = storeFor({ world, auditor, process: this.#process, link, store: weather });
    this.#at(0, () => this.#do({ what: 'queue.limit', queue: 'narrow', limit: 1 }));
    for (let atMs = EVERY_MS; atMs < stormMs; atMs += EVERY_MS) this.#at(atMs, () => this.#any());
  }

  heal(): void {
    this.#isHealed = true;
    this.#at(this.#world.nowMs, () => this.#openAll());
  }

  async #any(): Promise<void> {
    if (this.#isHealed) return;
    const { random } = this.#process;
    const queue = QUEUES[below(random, QUEUES.length)]!;
    const machine = SHAPES[below(random, SHAPES.length)]!.name;
    const limit = below(random, 5) === 0 ? undefined : 1 + below(random, LIMIT_MAX);
    const deeds: readonly FlowDeed[] = [
      { what: 'queue.limit', queue, limit },
      { what: 'queue.limit', queue, limit },
      { what: 'queue.pause', queue },
      { what: 'queue.resume', queue },
      { what: 'queue.resume', queue },
      { what: 'machine.pause', machine },
      { what: 'machine.resume', machine },
    ];
    await this.#do(deeds[below(random, deeds.length)]!);
  }

  /** Limits stay, and are wide enough for everything to end in time. */
  async #openAll(): Promise<void> {
    const { queues, machines } = this.#world.tables.flow;
    for (;;) {
      const closed = QUEUES.filter((queue) => queues.get(queue)?.isPaused);
      const tight = QUEUES.filter((queue) => (queues.get(queue)?.limit ?? LIMIT_MAX) < LIMIT_MAX);
      if (closed.length + tight.length + machines.size + this.#sending === 0) return;
      for (const queue of closed) await this.#do({ what: 'queue.resume', queue });
      for (const queue of tight) await this.#do({ what: 'queue.limit', queue, limit: LIMIT_MAX });
      for (const machine of machines.keys()) await this.#do({ what: 'machine.resume', machine });
      await pause(this.#process.clock, AGAIN_MS);
    }
  }

  async #do(deed: FlowDeed): Promise<void> {
    this.#count += 1;
    const requestId = `gates-${this.#count}`;
    this.#sending += 1;
    for (let sent = 0; sent < SEND_COUNT_MAX; sent++) {
      try {
        await this.#store.changeFlow({ requestId, who: 'gates', via: 'simulation', deed });
        break;
      } catch {
        await pause(this.#process.clock, AGAIN_MS);
      }
    }
    this.#sending -= 1;
  }

  #at(atMs: number, act: () => Promise<void>): void {
    this.#world.schedule.at(atMs, () => void act().catch(() => undefined), this.#process);
  }
}

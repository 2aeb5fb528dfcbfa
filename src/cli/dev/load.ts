/** The client of `fleetq dev`: enqueues the samples, and keeps an eye on what became of them. */
import type { Tasks } from '../../fleet/tasks.ts';
import { type Duration, type RunId, systemClock } from '../../ground/index.ts';
import type { Registry } from '../../machine/index.ts';
import type { Store } from '../../store/index.ts';
import { podsOf } from '../fleet/pods.ts';
import type { Board } from './board.ts';
import type { Samples } from './samples.ts';
import type { Verifier } from './verifier.ts';

const START_EVERY_MS = 250;
const LOOK_EVERY_MS = 500;
/** Nothing is enqueued while so many are under way: the load is steady, not growing. */
const UNDER_WAY_MAX = 24;
const KEY_MS = 3_600_000;
const LEFT_COUNT_MAX = 500;

export interface LoadPorts {
  readonly store: Store;
  readonly tasks: Tasks;
  readonly registry: Registry;
  readonly board: Board;
  readonly verifier: Verifier;
  /** Undefined in a project of one's own: only what somebody enqueues runs there. */
  readonly samples: Samples | undefined;
  readonly silence: Duration;
  readonly say: (text: string) => void;
  /** After every look at the store. */
  readonly onLooked: () => void;
}

export class Load {
  readonly #ports: LoadPorts;
  #isStopped = false;
  /** What was complained of since the store last answered. */
  #said = '';
  #looking: Promise<void> | undefined;

  constructor(ports: LoadPorts) {
    this.#ports = ports;
  }

  /** What an earlier session left under way counts too. */
  async start(): Promise<void> {
    const { store, verifier } = this.#ports;
    for (const status of ['pending', 'waiting', 'claimed'] as const) {
      const rows = await store.list({ status, countMax: LEFT_COUNT_MAX });
      for (const { id } of rows) verifier.acknowledge(id);
    }
    if (this.#ports.samples) this.#enqueueSteadily();
    this.#lookAgain();
  }

  enqueue(count: number): void {
    for (let i = 0; i < count; i++) {
      this.#enqueueOne().catch((error: Error) => {
        this.#sayOnce(`nothing was enqueued: ${error.message}`);
      });
    }
  }

  /** While the store is away every attempt fails alike. */
  #sayOnce(text: string): void {
    const what = text.split(':')[0]!;
    if (this.#isStopped || this.#said.includes(what)) return;
    this.#said += what;
    this.#ports.say(text);
  }

  /** Nothing more is enqueued. */
  stop(): void {
    this.#isStopped = true;
  }

  /** One look more, when nothing happens any longer. */
  async lastLook(): Promise<void> {
    await this.#looking;
    await this.#look().catch(() => undefined);
  }

  #enqueueSteadily(): void {
    const { board, verifier } = this.#ports;
    if (this.#isStopped) return;
    const isUp = board.pods.some(({ state }) => state === 'up');
    if (isUp && verifier.verdict.underWay < UNDER_WAY_MAX) this.enqueue(1);
    systemClock.after(START_EVERY_MS, () => this.#enqueueSteadily(), { idle: true });
  }

  async #enqueueOne(): Promise<void> {
    const { samples, tasks, registry, board, verifier } = this.#ports;
    if (!samples || this.#isStopped) return;
    const { machine, input } = await samples.next();
    const id = await tasks.enqueue(registry.newest(machine), input, { keyMs: KEY_MS });
    board.totals.enqueued += 1;
    verifier.acknowledge(id);
  }

  #lookAgain(): void {
    if (this.#isStopped) return;
    this.#looking = this.#look()
      .then(
        () => {
          this.#said = '';
        },
        (error: Error) => this.#sayOnce(`the store cannot be read: ${error.message}`),
      )
      .then(() => {
        this.#looking = undefined;
        systemClock.after(LOOK_EVERY_MS, () => this.#lookAgain(), { idle: true });
      });
  }

  async #look(): Promise<void> {
    const { store, board, verifier, silence, onLooked } = this.#ports;
    await verifier.look();
    for (const { pod, isLeader } of await podsOf(store, { silence })) {
      const found = board.pods.find(({ id }) => id === pod);
      if (found) found.isLeader = isLeader && found.state === 'up';
    }
    await this.#lookForOrphans();
    onLooked();
  }

  /** A pod may have died before it could tell that it had settled: the store knows. */
  async #lookForOrphans(): Promise<void> {
    const { store, board } = this.#ports;
    for (const pod of board.pods.filter(({ orphans }) => orphans.size > 0)) {
      const ids = [...pod.orphans] as RunId[];
      const rows = new Map((await store.find(ids)).map((row) => [row.id, row]));
      const isTheirs = (id: RunId) => {
        const row = rows.get(id);
        return row?.finishedAt === undefined && row?.status !== 'waiting';
      };
      board.adopt(
        pod.name,
        ids.filter((id) => !isTheirs(id)),
      );
    }
  }
}

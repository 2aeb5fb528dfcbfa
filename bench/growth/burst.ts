/**
 * What a burst does to those who have nothing to do with it: tasks of four kinds come steadily, and then twenty
 * thousand come one by one within two seconds, all in the default queue. One pod of 64 slots.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import type { NewTask } from '../../src/store/index.ts';
import { say } from '../child.ts';
import { BenchDatabase, startBenchPod, wallMs } from '../fleet-pods.ts';
import { newTask, sharesOf } from './tasks.ts';

const isBrief = process.argv.includes('--brief');
const BURST = isBrief ? 2_000 : 20_000;
const BURST_MS = isBrief ? 200 : 2_000;
const STEADY_MS = isBrief ? 5_000 : 20_000;
const DRAIN_MS_MAX = 180_000;
const WAVE_MS = 20;
/** So many single calls of a process the library puts into one statement while the last one is on its way. */
const GATHERED = 50;
const mint = runIdMint(systemClock, systemRandom);

/** How many of a kind come in a second, and what is special about them. */
const STEADY = {
  default: { perSecond: 30, of: {} },
  ownQueue: { perSecond: 30, of: { queue: 'own' } },
  priority: { perSecond: 30, of: { priority: 1 } },
  serialKey: { perSecond: 10, of: { serialKey: 'one' } },
} as const;
type Kind = keyof typeof STEADY | 'burst';

interface Came {
  readonly kind: Kind;
  readonly at: number;
}

export async function growthOfBurst(): Promise<object> {
  const database = await BenchDatabase.start();
  const pod = await startBenchPod({ store: database.url, slots: 64 });
  try {
    const scene = new Scene(database);
    pod.onBegan = ({ n, at }) => scene.began(n, at);
    const steady = scene.comeSteadily();
    await sleep(STEADY_MS);
    const before = scene.pickups();
    say(`before: ${JSON.stringify(before)}`);
    const from = wallMs();
    await scene.burst();
    const enqueueSeconds = secondsSince(from);
    while (scene.left > 0 && wallMs() - from < DRAIN_MS_MAX) await sleep(50);
    const drainSeconds = scene.left > 0 ? null : secondsSince(from);
    // Whatever came meanwhile and has not begun has waited until now at least.
    scene.stop();
    const during = scene.pickups(wallMs());
    await steady;
    const serialTurns = during.serialKey.count - during.serialKey.waiting;
    const rows = [{ before, during, enqueueSeconds, drainSeconds, serialTurns }];
    say(JSON.stringify(rows[0]));
    return { burst: BURST, rows };
  } finally {
    await pod.kill();
    await database.stop();
  }
}

const secondsSince = (at: number) => Math.round((wallMs() - at) / 100) / 10;

class Scene {
  readonly #database: BenchDatabase;
  readonly #open = new Map<number, Came>();
  #begun: { readonly kind: Kind; readonly ms: number }[] = [];
  #count = 0;
  #isStopped = false;
  left = 0;

  constructor(database: BenchDatabase) {
    this.#database = database;
  }

  began(n: number, at: number): void {
    const came = this.#open.get(n);
    if (!came) return;
    this.#open.delete(n);
    this.#begun.push({ kind: came.kind, ms: at - came.at });
    if (came.kind === 'burst') this.left--;
  }

  async #enqueue(kind: Kind, of: Partial<NewTask>, count = 1): Promise<void> {
    const at = wallMs();
    const tasks = Array.from({ length: count }, () => {
      this.#open.set(++this.#count, { kind, at });
      return { ...newTask(mint(), 'bench-pickup', this.#count), ...of };
    });
    await this.#database.store.enqueue(tasks);
  }

  async comeSteadily(): Promise<void> {
    const kinds = Object.entries(STEADY) as [
      keyof typeof STEADY,
      { perSecond: number; of: object },
    ][];
    const from = wallMs();
    const counts = new Map<Kind, number>();
    const sent: Promise<void>[] = [];
    while (!this.#isStopped) {
      for (const [kind, { perSecond, of }] of kinds) {
        const due = ((wallMs() - from) / 1_000) * perSecond;
        const count = counts.get(kind) ?? 0;
        if (count >= due) continue;
        counts.set(kind, count + 1);
        sent.push(this.#enqueue(kind, of));
      }
      await sleep(5);
    }
    await Promise.all(sent);
  }

  /** In waves, so that none of them waits for the one before. */
  async burst(): Promise<void> {
    const waves = BURST_MS / WAVE_MS;
    const sent: Promise<void>[] = [];
    this.left = BURST;
    for (let wave = 0; wave < waves; wave++) {
      for (let n = 0; n < BURST / waves; n += GATHERED) {
        sent.push(this.#enqueue('burst', {}, GATHERED));
      }
      await sleep(WAVE_MS);
    }
    await Promise.all(sent);
  }

  /** Of what began since this was last asked; with `until`, of what still waits as well. */
  pickups(until?: number) {
    const open = until === undefined ? [] : [...this.#open.values()];
    const of = (kind: Kind) => {
      const begun = this.#begun.filter((one) => one.kind === kind).map(({ ms }) => ms);
      const waiting = open.filter((one) => one.kind === kind).map(({ at }) => until! - at);
      const ms = [...begun, ...waiting];
      return { ...sharesOf(ms), count: ms.length, waiting: waiting.length };
    };
    const found = {
      default: of('default'),
      ownQueue: of('ownQueue'),
      priority: of('priority'),
      serialKey: of('serialKey'),
      burst: of('burst'),
    };
    this.#begun = [];
    return found;
  }

  stop(): void {
    this.#isStopped = true;
  }
}

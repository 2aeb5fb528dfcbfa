/** Real clients, who claim, settle and take from each other on a real Postgres, are told one story. */
import { expect, test } from 'vitest';
import type { Store } from '../../src/store/index.ts';
import type { ClaimedTask, Settlement } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import {
  birthOf,
  claimRequest,
  completed,
  newTasks,
  podOf,
  released,
  segment,
} from '../../test/store/factories.ts';
import { usePostgres } from '../../test/store/postgres-harness.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { claimRegister, registerCalls } from './claim-register.ts';
import type { StoreCall } from './evidence.ts';
import { linearityOf } from './linearize.ts';

const postgres = usePostgres();
const TASKS = 300;
const CLIENTS = 6;
const ROUNDS = 40;
const random = seededRandom(11);
const now = () => performance.now();
/** When each pod may have been dead at the earliest. */
const deaths = new Map<string, number>();
const diedAt = (pod: string) => deaths.get(pod);

/** Pods that are taken for dead at any moment, and go on with what they have all the same. */
class Client {
  readonly #store: Store;
  readonly #calls: StoreCall[];
  readonly #name: string;
  #births = 0;
  pod!: PodId;
  #held: ClaimedTask[] = [];

  constructor(store: Store, name: string, calls: StoreCall[]) {
    this.#store = store;
    this.#name = name;
    this.#calls = calls;
  }

  async register(): Promise<void> {
    this.#births += 1;
    const name = `${this.#name}-${this.#births}`;
    this.pod = podOf(name);
    await this.#store.register(birthOf(name));
  }

  async claim(): Promise<void> {
    // By the name it has now: it may be given another one before the answer comes.
    const { pod } = this;
    const fromMs = now();
    const claimed = await this.#store.claim(claimRequest(pod, { countMax: 8 }));
    const tasks = claimed.map(({ task, epoch }) => ({ task, epoch }));
    this.#calls.push({ call: 'claim', pod, fromMs, toMs: now(), tasks });
    this.#held.push(...claimed);
  }

  /** Some of what it believes to hold, under the name it had then or has now. */
  async settle(): Promise<void> {
    // One claim of a task at a time, the oldest first: the answers name no epochs.
    const first = (task: ClaimedTask) => this.#held.find((one) => one.task === task.task) === task;
    const some = this.#held.filter((task) => first(task) && random.fraction() < 1 / 2);
    this.#held = this.#held.filter((task) => !some.includes(task));
    const settlements = some.map((task): Settlement => {
      const tail = segment(task, 0, 1, String(task.epoch));
      return random.fraction() < 1 / 3 ? completed(task, { tail }) : released(task, { tail });
    });
    if (settlements.length === 0) return;
    const { pod } = this;
    const fromMs = now();
    const answers = await this.#store.settle(pod, settlements);
    const kinds = new Map(answers.map(({ task, kind }) => [task as string, kind]));
    const tasks = settlements.map(({ task, epoch, to }) => {
      return { task, epoch, to, answer: kinds.get(task) };
    });
    this.#calls.push({ call: 'settle', pod, fromMs, toMs: now(), tasks });
  }

  /** Declares another dead, and takes what it has. */
  async take(from: PodId): Promise<void> {
    const { pod } = this;
    const fromMs = now();
    const isDead = await this.#store.fence(from, pod, 'proved').catch(() => false);
    if (isDead) deaths.set(from, fromMs);
    const to = random.fraction() < 1 / 2 ? 'pool' : 'taker';
    const taking = { from, by: pod, to, countMax: 50, crashed: 'none', spreadMs: 0 } as const;
    const taken = await this.#store.take(taking);
    const tasks = taken.map(({ task, epoch, status, previousEpoch }) => {
      return { task, epoch, to: status, wasEpoch: previousEpoch };
    });
    this.#calls.push({ call: 'take', pod, fromMs, toMs: now(), tasks });
    this.#held.push(...taken.filter(({ status }) => status === 'claimed'));
  }
}

async function storm(): Promise<StoreCall[]> {
  const calls: StoreCall[] = [];
  const stores = await Promise.all(Array.from({ length: CLIENTS }, () => postgres.open()));
  await stores[0]!.enqueue(newTasks(TASKS));
  const clients = stores.map((store, index) => new Client(store, `c${index}`, calls));
  await Promise.all(clients.map((client) => client.register()));
  await Promise.all(
    clients.map(async (client, index) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await client.claim();
        await client.settle();
        if (random.fraction() > 1 / 8) continue;
        const victim = clients[(index + 1 + Math.floor(random.fraction() * 5)) % CLIENTS]!;
        await client.take(victim.pod);
        await victim.register();
      }
    }),
  );
  return calls;
}

test('what rivals are told of one task fits one order, and one false answer does not', async () => {
  const calls = await storm();
  const byTask = new Map<string, StoreCall[]>();
  for (const call of calls) {
    for (const one of call.tasks) {
      const known = byTask.get(one.task) ?? [];
      byTask.set(one.task, [...known, { ...call, tasks: [one] }]);
    }
  }
  const found = await postgres.client.query(
    'select task_id, status, claim_epoch from step_tracker',
  );
  const rows = new Map(
    found.rows.map((row) => [
      row.task_id as string,
      { status: row.status as string, epoch: Number(row.claim_epoch) },
    ]),
  );
  const broken: string[] = [];
  const kinds = new Map<string, number>();
  let falsified = 0;
  for (const [task, own] of byTask) {
    const row = rows.get(task)!;
    if (linearityOf(registerCalls(own, [], { row, diedAt }), claimRegister) !== 'linear')
      broken.push(task);
    for (const call of own) {
      const kind = call.tasks[0]!.answer ?? call.call;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
    const lied = own.map((call) => lie(call));
    if (lied.some((call, index) => call !== own[index])) {
      falsified += 1;
      expect(linearityOf(registerCalls(lied, [], { row, diedAt }), claimRegister)).toBe('broken');
    }
  }
  expect(broken).toEqual([]);
  expect(byTask.size).toBe(TASKS);
  for (const kind of ['claim', 'take', 'stood', 'lost']) {
    expect(kinds.get(kind) ?? 0).toBeGreaterThan(5);
  }
  expect(falsified).toBeGreaterThan(5);
});

/** Whoever was told that its claim is lost is told that it stood. */
function lie(call: StoreCall): StoreCall {
  const [one] = call.tasks;
  return one?.answer === 'lost' ? { ...call, tasks: [{ ...one, answer: 'stood' }] } : call;
}

/** What is done to the store and to its model alike: every command says what it expects of both. */
import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import type { RunId } from '../../src/ground/index.ts';
import type { MemoryStore } from '../../src/store/memory/memory-store.ts';
import type { Settlement } from '../../src/store/tasks.ts';
import type { Claim, PodId } from '../../src/store/words.ts';
import { cancelTask, redriveTask, rescheduleTask } from '../store/acts.ts';
import {
  birthOf,
  cancelled,
  claimRequest,
  completed,
  failed,
  HOUR,
  newId,
  newTask,
  parked,
  podOf,
  released,
  segment,
} from '../store/factories.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import { type FleetModel, SILENT_MS, WAYS, type Way } from './fleet-model.ts';

export interface Real {
  readonly store: MemoryStore;
  readonly clock: FakeClock;
  /** How often each command changed something; a run that did nothing shows nothing. */
  readonly done: Map<string, number>;
}

const KEY_MS = HOUR;
const WAIT_MS = 20_000;
const POD_COUNT = 3;
/** No number of a task or of a pod: what it chooses comes too late, or is not there. */
const FAR = 100;
/** Of the last record when a run is settled. */
const LAST_SEQ = 6;

type Act = (model: FleetModel, real: Real, a: number, b: number) => Promise<boolean>;

const pick = <T>(all: readonly T[], index: number): T | undefined => all[index % all.length];
const podsOf = (model: FleetModel): PodId[] => [...model.pods.keys()];
const idOf = (model: FleetModel, index: number): RunId =>
  (index === FAR ? newId() : (pick([...model.tasks.keys()], index) ?? newId())) as RunId;

async function born(model: FleetModel, { store }: Real): Promise<PodId> {
  const name = `p${model.pods.size}`;
  await store.register(birthOf(name));
  model.pods.set(podOf(name), { status: 'up', seq: 0, beatMs: model.nowMs });
  return podOf(name);
}

/** One sweep as a leader does it, a step at a time, so that several can meet between any two. */
async function sweepOnce({ store }: Real, by: PodId): Promise<void> {
  const { silent, dead } = await store.worklist(SILENT_MS);
  for (const { pod } of silent) await store.fence(pod, by, { silentMs: SILENT_MS });
  for (const { pod } of [...silent, ...dead]) {
    const taking = { from: pod, by, to: 'pool', countMax: 2, crashed: 'all', spreadMs: 0 } as const;
    while ((await store.take(taking)).length > 0);
    await store.retire(pod);
  }
}

const ACTS: Readonly<Record<string, Act>> = {
  async enqueue(model, { store }, a) {
    const key = a < 4 ? `key ${a}` : undefined;
    const id = newId();
    const [answer] = await store.enqueue([newTask({ id, key, keyMs: KEY_MS })]);
    const wanted = model.enqueue(id, key);
    assert.deepEqual({ id: answer!.id, isNew: answer!.isNew }, wanted);
    return wanted.isNew;
  },
  async claim(model, real, a, b) {
    const up = podsOf(model).filter((pod) => model.pods.get(pod)?.status === 'up');
    // Mostly by a pod that may; at times by one whose life is over.
    const from = a === FAR ? podsOf(model) : up;
    const pod = up.length < POD_COUNT && a < 3 ? await born(model, real) : pick(from, a);
    if (pod === undefined) return false;
    const head = b % 4 === 0 ? 'suspect' : 'ready';
    const request = { countMax: 1 + (b % 3), journal: 'any', head } as const;
    const claimed = await real.store.claim(claimRequest(pod, request));
    const got = claimed.map(({ task, generation, epoch }) => ({ task, generation, epoch }));
    assert.deepEqual(got, model.claim(pod, 1 + (b % 3), head === 'suspect'));
    return got.length > 0;
  },
  async beat(model, { store }, a, b) {
    const pod = pick(podsOf(model), a);
    const row = pod === undefined ? undefined : model.pods.get(pod);
    if (pod === undefined || !row) return false;
    const seq = b === FAR ? row.seq + 1 : row.seq;
    const { kind } = await store.beat({ pod, seq, nonce: `${b}`, lsn: 0, report: {} });
    const isTaken = model.isLive(pod) && seq === row.seq;
    assert.equal(kind, isTaken ? 'taken' : 'refused');
    if (isTaken) Object.assign(row, { seq: seq + 1, beatMs: model.nowMs });
    return isTaken;
  },
  async archive(model, { store }, a, b) {
    const held = pick(model.claims.slice(-10), a);
    if (!held) return false;
    const isThere = model.tasks.has(held.claim.task);
    const part = segment(held.claim, 0, b % LAST_SEQ);
    // Twice: a flush whose answer was lost is sent again.
    for (const _ of [1, 2]) {
      const [answer] = await store.archive([part]);
      assert.equal(answer?.kind, isThere ? 'held' : 'refused');
    }
    model.archive(held.claim, b % LAST_SEQ);
    return isThere;
  },
  async settle(model, { store }, a, b) {
    const held = pick(model.claims.slice(-10), a);
    if (!held) return false;
    const way = WAYS[b % WAYS.length]!;
    const kinds: string[] = [];
    const wanted: string[] = [];
    for (const _ of [1, 2]) {
      const [answer] = await store.settle(held.pod, [settlementOf(held.claim, way)]);
      kinds.push(answer!.kind);
      wanted.push(model.settle(held.pod, held.claim, way, way === 'retry' ? WAIT_MS : 0));
    }
    assert.deepEqual(kinds, wanted);
    if (kinds[0] === 'stood') model.archive(held.claim, LAST_SEQ);
    return kinds[0] === 'stood';
  },
  async sweep(model, real, _, b) {
    const leaders = Array.from({ length: 1 + (b % 3) }, (_, index) => podOf(`leader ${index}`));
    await Promise.all(leaders.map((leader) => sweepOnce(real, leader)));
    const before = [...model.pods.values()].map(({ status }) => status).join();
    model.sweep();
    return before !== [...model.pods.values()].map(({ status }) => status).join();
  },
  async adopt(model, real, a) {
    const from = pick(podsOf(model), a);
    if (from === undefined) return false;
    const was = model.pods.get(from)!.status;
    const by = await born(model, real);
    await real.store.fence(from, by, 'proved');
    const taking = { from, by, to: 'taker', countMax: 2, crashed: 'all', spreadMs: 0 } as const;
    while ((await real.store.take(taking)).length > 0);
    await real.store.retire(from);
    model.adopt(from, by);
    return was !== 'down';
  },
  async drain(model, { store }, a) {
    const pod = pick(podsOf(model), a);
    if (pod === undefined) return false;
    const wasUp = model.pods.get(pod)?.status === 'up';
    assert.equal(await store.markDraining(pod), wasUp);
    assert.equal(await store.fence(pod, pod, 'proved'), model.isLive(pod));
    const taking = { from: pod, by: pod, to: 'pool', crashed: 'none', spreadMs: 0 } as const;
    if (wasUp) while ((await store.take({ ...taking, countMax: 2 })).length > 0);
    await store.retire(pod);
    if (wasUp) model.drain(pod);
    return wasUp;
  },
  async cancel(model, { store }, a) {
    const id = idOf(model, a);
    const answer = await cancelTask(store, id, 'asked');
    assert.equal(answer, model.cancel(id));
    return answer === 'done' || answer === 'requested';
  },
  async redrive(model, { store }, a, b) {
    const ended = [...model.tasks.values()].filter(({ endedMs }) => endedMs !== undefined);
    const task = pick(ended, a);
    if (!task) return false;
    const generation = task.generation - (b === FAR ? 1 : 0);
    const answer = await redriveTask(store, task.id as RunId, { generation }, { isFresh: false });
    assert.equal(answer, model.redrive(task.id, generation));
    // Pressed again with what was seen before, it does nothing.
    const again = await redriveTask(store, task.id as RunId, { generation }, { isFresh: false });
    assert.equal(again, undefined);
    return answer !== undefined;
  },
  async reschedule(model, { store }, a, b) {
    const id = idOf(model, a);
    const afterMs = (b % 3) * 10_000;
    const answer = await rescheduleTask(store, id, { afterMs });
    assert.equal(answer, model.reschedule(id, afterMs));
    return answer === 'done';
  },
  async prune(model, { store }, _, b) {
    const olderMs = (b % 3) * HOUR;
    const { removed } = await store.prune(olderMs, 1_000);
    assert.equal(removed, model.prune(olderMs, KEY_MS));
    return removed > 0;
  },
  async pass(model, { clock }, a, b) {
    const ms = b < 20 ? 1_000 * a : 1_000 * b;
    clock.pass(ms);
    model.nowMs += ms;
    return true;
  },
};

/** Always with the rest of its history, which is longer than what was flushed of it. */
function settlementOf(claim: Claim, way: Way): Settlement {
  const options = { tail: segment(claim, 0, LAST_SEQ) };
  const to: Readonly<Record<Way, () => Settlement>> = {
    completed: () => completed(claim, options),
    failed: () => failed(claim, options),
    cancelled: () => cancelled(claim, options),
    released: () => released(claim, options),
    parked: () => parked(claim, 'sleep', 0, options),
    retry: () => parked(claim, 'retry', WAIT_MS, { ...options, retriesAdd: 1 }),
  };
  return to[way]();
}

/** One of the acts, with the two numbers it was drawn with. */
class Command implements fc.AsyncCommand<FleetModel, Real> {
  readonly #name: string;
  readonly #a: number;
  readonly #b: number;
  readonly #after: (model: FleetModel, real: Real) => Promise<void>;

  constructor(name: string, a: number, b: number, after: Command['run']) {
    this.#name = name;
    this.#a = a;
    this.#b = b;
    this.#after = after;
  }

  check(): boolean {
    return true;
  }

  async run(model: FleetModel, real: Real): Promise<void> {
    const hasDone = await ACTS[this.#name]!(model, real, this.#a, this.#b);
    if (hasDone) real.done.set(this.#name, (real.done.get(this.#name) ?? 0) + 1);
    await this.#after(model, real);
  }

  toString(): string {
    return `${this.#name}(${this.#a}, ${this.#b})`;
  }
}

type Commands = fc.Arbitrary<Iterable<fc.AsyncCommand<FleetModel, Real>>>;

export const COMMAND_NAMES: readonly string[] = Object.keys(ACTS);
/** What moves tasks along is done more often than what takes them back. */
const OFTEN: Readonly<Record<string, number>> = { enqueue: 3, claim: 5, settle: 4, pass: 2 };

/** `after` looks at both when a command is over. */
export function fleetCommands(after: (model: FleetModel, real: Real) => Promise<void>): Commands {
  const number = fc.oneof({ arbitrary: fc.nat(9), weight: 9 }, fc.constant(FAR));
  const all = COMMAND_NAMES.flatMap((name) =>
    Array(OFTEN[name] ?? 1).fill(
      fc.tuple(number, number).map(([a, b]) => new Command(name, a, b, after)),
    ),
  );
  return fc.commands(all, { maxCommands: 80, size: 'max' });
}

/**
 * Plays a sequence of random steps on a store. What a step means is chosen by what the store shows:
 * there is something to do for most of them, and some come too late or ask the wrong one. After every
 * step nothing is lost or invented (I3), no epoch has fallen (I7), and what has ended stays so (I4).
 */
import assert from 'node:assert/strict';
import type { PodRow } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type { TaskRow } from '../../src/store/tasks.ts';
import { type Claim, type PodId, type PodStatus, RECOVERY_PREFIX } from '../../src/store/words.ts';
import { actOf, cancelTask, discardTask, redriveTask, rescheduleTask } from './acts.ts';
import {
  birthOf,
  claimRequest,
  HOUR,
  MACHINE,
  newId,
  newTask,
  podOf,
  ROUTE,
  segment,
} from './factories.ts';
import type { PlainRow } from './harness.ts';
import { compare, refusal, settlementOf } from './play-rules.ts';
import { OPENING, STRAY, type Step } from './random-steps.ts';

const POD_COUNT = 3;
const ROW_COUNT_MAX = 200;
const BATCH_COUNT = 5;
/** What is put in: the last of them is a machine that no pod has ever had. */
const MACHINES = [MACHINE, MACHINE, 'strange/one'] as const;
/** What a host shows of its own: a recovery among it, which nothing puts in. */
const SHOWN = [MACHINE, `${RECOVERY_PREFIX}sample`] as const;
const ROUTES = [ROUTE, `${RECOVERY_PREFIX}sample@1`];

/** Where it is played: two handles on the same tables, and what lies beside them. */
export interface Stage {
  readonly store: Store;
  readonly rival: Store;
  pass(ms: number): Promise<void>;
  /** Before every step, where time has to move from one to the next. */
  tick?(): Promise<void>;
  insertPlain(row: PlainRow): Promise<string>;
}

/** The whole of a sequence. Answers the tasks that are there at its end. */
export async function play(stage: Stage, sequence: readonly Step[]): Promise<readonly TaskRow[]> {
  const play = new Play(stage);
  for (const step of [...OPENING, ...sequence]) {
    await stage.tick?.();
    await play.act(step);
    await play.look();
  }
  return [...play.rows.values()];
}

class Play {
  readonly #stage: Stage;
  /** Every id that was acknowledged as new, but for those that retention removed. */
  readonly #known = new Set<string>();
  readonly #claims: { readonly pod: PodId; readonly claim: Claim }[] = [];
  /** How often each pod has been born. */
  readonly #lives: number[] = Array(POD_COUNT).fill(0);
  rows = new Map<string, TaskRow>();
  #pods: readonly PodRow[] = [];
  #pruned = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** The latest life of one of the pods; of a stray step, the one before. */
  #pod(a: number, c = 0): PodId {
    const index = a % POD_COUNT;
    return podOf(`${index}-${Math.max(0, this.#lives[index]! - (c === STRAY ? 1 : 0))}`);
  }

  /** A pod of this status, rather one that holds something; of a stray step, any. */
  #podThatIs(status: PodStatus, a: number, c: number): PodId {
    const fit = this.#pods.filter((pod) => c === STRAY || pod.status === status);
    const busy = fit.filter(({ claimCount }) => claimCount > 0);
    const from = busy.length > 0 && a !== STRAY ? busy : fit;
    return from[a % from.length]?.pod ?? this.#pod(a, c);
  }

  /** A task that is so, where there is one; of a stray step, any, or one that never was. */
  #task(is: (row: TaskRow) => boolean, [, a, b, c]: Step): TaskRow | undefined {
    const fit = [...this.rows.values()].filter((row) => c === STRAY || is(row));
    return a === STRAY && b === STRAY ? undefined : fit[(a * 8 + b) % fit.length];
  }

  async act(step: Step): Promise<void> {
    const [kind, a, b, c] = step;
    const store = b % 2 === 0 ? this.#stage.store : this.#stage.rival;
    const pod = this.#pod(a, c);
    const isOpen = (row: TaskRow) => row.finishedAt === undefined;
    const open = this.#task(isOpen, step)?.id ?? newId();
    const ended = this.#task((row) => !isOpen(row), step);
    const seen = { generation: (ended?.generation ?? 1) - (c === STRAY ? 1 : 0) };
    switch (kind) {
      case 'enqueue':
        return this.#enqueue(store, a, b, c);
      case 'plain':
        return this.#plain(a, b, c);
      case 'claim':
        return this.#claim(store, a, c);
      case 'settle':
        return this.#settle(store, a, b, c);
      case 'settleAll':
        return this.#settleAll(store, a, b, c);
      case 'archive': {
        const held = this.#claims[this.#claims.length - 1 - b];
        const first = a % 3;
        if (!held) return;
        const part = segment(held.claim, first, first + c, a === 5 ? 'x' : '');
        await store.archive([a === 6 ? { ...part, version: 2 } : part]);
        return;
      }
      case 'mirror':
        return this.#mirror(store, pod, step);
      case 'announce':
        await store.announce([{ route: ROUTES[a % 2]!, fingerprint: `${c}`, shape: `[${c}]` }]);
        return;
      case 'register':
        return this.#register(store, a);
      case 'beat':
        return this.#beat(store, pod, b, c);
      case 'drain':
        await (c < 4 ? store.markDraining(pod) : store.requestDrain(pod));
        return;
      case 'fence': {
        const why = c < 5 ? 'proved' : { silentMs: HOUR };
        await store.fence(this.#podThatIs('up', a, c), this.#pod(b), why);
        return;
      }
      case 'take':
      case 'adopt':
        return this.#take(store, step);
      case 'retire':
        await store.retire(this.#podThatIs('dead', a, c));
        return;
      case 'cancel':
        await cancelTask(store, open, `by chance ${c}`);
        return;
      case 'reschedule':
        await rescheduleTask(store, open, { afterMs: c * HOUR });
        return;
      case 'redrive':
        await redriveTask(store, ended?.id ?? newId(), seen, { isFresh: b % 2 === 0 });
        return;
      case 'discard':
        await discardTask(store, ended?.id ?? newId(), seen);
        return;
      case 'pause':
      case 'resume':
      case 'retry':
        await store.act(actOf(open, { what: kind }, { isDryRun: c === 5 }));
        return;
      case 'pass':
        return this.#stage.pass(a * HOUR + b * 1_000);
      case 'failHopeless':
        await store.failHopeless(b * HOUR, ROW_COUNT_MAX);
        return;
      case 'prune':
        this.#pruned = (await store.prune(b * HOUR, ROW_COUNT_MAX)).removed;
        return;
    }
  }

  async #take(store: Store, [kind, a, b, c]: Step): Promise<void> {
    const from = this.#podThatIs('dead', a, c);
    const by = this.#podThatIs('up', b, c);
    const to = kind === 'take' ? 'pool' : 'taker';
    const one = [...this.rows.values()].find(({ claimedBy }) => claimedBy === from)?.id;
    const crashed = c < 3 ? 'all' : c < 5 || !one ? 'none' : [one];
    const taken = await store.take({ from, by, to, crashed, countMax: 3, spreadMs: c * 1_000 });
    for (const claim of taken) {
      assert.equal(this.rows.get(claim.task)?.claimedBy, from);
      if (claim.status === 'claimed') this.#claims.push({ pod: by, claim });
    }
  }

  async #mirror(store: Store, pod: PodId, [, a, b, c]: Step): Promise<void> {
    const journal = `journal-${a % POD_COUNT}`;
    const run = {
      id: newId(),
      machine: SHOWN[b % 2]!,
      version: 1,
      payload: '{}',
      startedAgoMs: b * HOUR,
    };
    const deadlineMs = c % 2 === 0 ? undefined : c * HOUR;
    const [answer] = await store.mirror(pod, [{ ...run, journal, deadlineMs }]);
    if (answer?.kind !== 'held') return;
    this.#known.add(run.id);
    this.#claims.push({ pod, claim: answer });
  }

  async #enqueue(store: Store, a: number, b: number, c: number): Promise<void> {
    const answers = await store.enqueue([
      newTask({
        key: b < 4 ? `key-${b}` : undefined,
        keyMs: c * HOUR,
        priority: a,
        due: c === 1 ? { afterMs: HOUR } : undefined,
        retriesMax: a < 2 ? a : undefined,
        deadlineMs: a === 3 ? HOUR : undefined,
      }),
      newTask({ machine: MACHINES[Math.max(0, b - 5)]!, version: a === 6 ? 2 : 1 }),
    ]);
    for (const { id, isNew } of answers) {
      assert.equal(this.#known.has(id), !isNew);
      this.#known.add(id);
    }
  }

  async #plain(a: number, b: number, c: number): Promise<void> {
    const id = a === STRAY ? `no id ${newId()}` : newId();
    const parent = [...this.rows.keys()][b];
    this.#known.add(
      await this.#stage.insertPlain({
        task_id: id,
        machine: MACHINES[b % 3]!,
        paused: c === 1,
        ...(parent !== undefined && a < 3 ? { parent_id: parent } : {}),
        ...(c === 2 ? { deadlineAfterMs: HOUR } : {}),
        ...(c === 3 ? { runAfterMs: -HOUR } : {}),
      }),
    );
  }

  async #register(store: Store, index: number): Promise<void> {
    const of = index % POD_COUNT;
    const name = `${of}-${this.#lives[of]}`;
    const birth = { ...birthOf(name), journal: `journal-${of}`, nonce: name };
    await store.register(of === 2 ? { ...birth, silenceMs: 2 * HOUR } : birth).catch(refusal);
  }

  async #beat(store: Store, pod: PodId, b: number, c: number): Promise<void> {
    const seq = this.#pods.find((row) => row.pod === pod)?.seq ?? 0;
    const report = { load: b };
    await store.beat({ pod, seq: c === STRAY ? seq + 1 : seq, nonce: `${c}`, lsn: b, report });
  }

  async #claim(store: Store, a: number, c: number): Promise<void> {
    const index = a % POD_COUNT;
    const journal = `journal-${index}`;
    const status = this.#pods.find(({ pod }) => pod === this.#pod(a))?.status;
    if (status !== 'up') {
      // The pod was never there, or is on its way out: another life of it begins.
      if (status !== undefined) this.#lives[index]!++;
      await this.#register(store, index);
    }
    const pod = this.#pod(a, c);
    const head = c === 3 ? 'suspect' : 'ready';
    const request = { head, journal, countMax: 1 + (c % 4), routes: ROUTES } as const;
    const claimed = await store.claim(claimRequest(pod, request));
    for (const claim of claimed) {
      const before = this.rows.get(claim.task);
      assert.equal(before?.claimedBy, undefined);
      assert.ok(claim.epoch > before!.epoch);
      this.#claims.push({ pod, claim });
    }
    if (pod !== this.#pod(a)) assert.deepEqual(claimed, []);
  }

  async #settle(store: Store, a: number, b: number, c: number): Promise<void> {
    const held = this.#claims[this.#claims.length - 1 - b];
    if (!held) return;
    const { pod, claim } = held;
    const [answer] = await store.settle(pod, [settlementOf(claim, a, c)]);
    const before = this.rows.get(claim.task);
    // What no longer stands by the last look cannot stand now: nobody else acted since.
    if (before?.epoch !== claim.epoch || before.claimedBy !== pod) {
      assert.notEqual(answer?.kind, 'stood');
    }
  }

  /** Many of one pod in one call, those of others and former claims of the same tasks among them. */
  async #settleAll(store: Store, a: number, b: number, c: number): Promise<void> {
    const last = this.#claims.slice(-BATCH_COUNT);
    const pod = last[b % last.length]?.pod;
    if (pod === undefined) return;
    const settlements = last.map(({ claim }, index) => settlementOf(claim, a + index, c));
    await store.settle(pod, settlements);
  }

  async look(): Promise<void> {
    const { store } = this.#stage;
    assert.deepEqual(await store.violations(), []);
    this.#pods = await store.pods();
    const rows = new Map<string, TaskRow>(
      (await store.list({ countMax: ROW_COUNT_MAX })).map((row) => [row.id, row]),
    );
    for (const id of this.#known) if (!rows.has(id)) this.#known.delete(id);
    const gone = [...this.rows.keys()].filter((id) => !rows.has(id));
    assert.equal(gone.length, this.#pruned);
    this.#pruned = 0;
    assert.deepEqual([...rows.keys()].sort(), [...this.#known].sort());
    for (const [id, row] of rows) compare(this.rows.get(id), row);
    this.rows = rows;
  }
}

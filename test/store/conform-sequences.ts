/**
 * Random sequences of everything the store can be asked, late and stale requests included. After
 * every step: nothing is lost or invented (I3), no epoch falls (I7), what has ended stays as it
 * ended (I4), and the rules of the tables hold.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PodRow } from '../../src/store/pods.ts';
import type { Store } from '../../src/store/store.ts';
import type { Settlement, TaskRow } from '../../src/store/tasks.ts';
import type { Claim, PodId, PodStatus } from '../../src/store/words.ts';
import {
  cancelled,
  completed,
  failed,
  HOUR,
  MACHINE,
  newId,
  newTask,
  parked,
  released,
  segment,
} from './factories.ts';
import { birthOf, claimRequest, podOf, type Scene } from './harness.ts';
import { OPENING, STRAY, type Step, steps } from './random-steps.ts';

const SEQUENCE_COUNT = 30;
const POD_COUNT = 3;
const ROW_COUNT_MAX = 200;

export function describeSequences(scene: Scene): void {
  test('random sequences keep the rules of the tables', { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        await scene.harness.reset();
        const play = new Play(scene);
        for (const step of [...OPENING, ...sequence]) {
          await play.act(step);
          await play.look();
        }
      }),
      { numRuns: scene.harness.sequenceCount ?? SEQUENCE_COUNT, seed: 4711, endOnFailure: true },
    );
  });
}

class Play {
  readonly #scene: Scene;
  /** Every id that was acknowledged as new, but for those that retention removed. */
  readonly #known = new Set<string>();
  readonly #claims: { readonly pod: PodId; readonly claim: Claim }[] = [];
  /** How often each pod has been born. */
  readonly #lives: number[] = Array(POD_COUNT).fill(0);
  #before = new Map<string, TaskRow>();
  #pods: readonly PodRow[] = [];
  #pruned = 0;

  constructor(scene: Scene) {
    this.#scene = scene;
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
    const fit = [...this.#before.values()].filter((row) => c === STRAY || is(row));
    return a === STRAY && b === STRAY ? undefined : fit[(a * 8 + b) % fit.length];
  }

  async act(step: Step): Promise<void> {
    const [kind, a, b, c] = step;
    const store = b % 2 === 0 ? this.#scene.store : this.#scene.rival;
    const pod = this.#pod(a, c);
    const isOpen = (row: TaskRow) => row.finishedAt === undefined;
    const open = this.#task(isOpen, step)?.id ?? newId();
    const ended = this.#task((row) => !isOpen(row), step);
    const seen = { generation: (ended?.generation ?? 1) - (c === STRAY ? 1 : 0) };
    switch (kind) {
      case 'enqueue':
        return this.#enqueue(store, a, b, c);
      case 'claim':
        return this.#claim(store, a, c);
      case 'settle':
        return this.#settle(store, a, b, c);
      case 'archive': {
        const held = this.#claims[b];
        if (held) await store.archive([segment(held.claim, 0, c)]);
        return;
      }
      case 'mirror':
        return this.#mirror(store, pod, `journal-${a % POD_COUNT}`);
      case 'beat':
        await store.beat({ pod, seq: b % 3, nonce: `${c}`, lsn: 0, report: {} });
        return;
      case 'drain':
        await (c < 4 ? store.markDraining(pod) : store.requestDrain(pod));
        return;
      case 'fence':
        await store.fence(
          this.#podThatIs('up', a, c),
          this.#pod(b),
          c < 5 ? 'proved' : { silentMs: HOUR },
        );
        return;
      case 'take':
      case 'adopt':
        return this.#take(store, step);
      case 'retire':
        await store.retire(this.#podThatIs('dead', a, c));
        return;
      case 'cancel':
        await store.cancel(open, 'by chance');
        return;
      case 'reschedule':
        await store.reschedule(open, { afterMs: c * HOUR });
        return;
      case 'redrive':
        await store.redrive(ended?.id ?? newId(), seen, { isFresh: b % 2 === 0 });
        return;
      case 'discard':
        await store.discard(ended?.id ?? newId(), seen);
        return;
      case 'pass':
        return this.#scene.pass(a * HOUR);
      case 'failHopeless':
        await store.failHopeless(b * HOUR, 5);
        return;
      case 'prune':
        this.#pruned = await store.prune(b * HOUR, 5);
        return;
    }
  }

  async #take(store: Store, [kind, a, b, c]: Step): Promise<void> {
    const from = this.#podThatIs('dead', a, c);
    const by = this.#podThatIs('up', b, c);
    const to = kind === 'take' ? 'pool' : 'taker';
    const one = [...this.#before.values()].find(({ claimedBy }) => claimedBy === from)?.id;
    const crashed = c < 3 ? 'all' : c < 5 || !one ? 'none' : [one];
    const taken = await store.take({ from, by, to, crashed, countMax: 3, spreadMs: c * 1_000 });
    for (const claim of taken) {
      expect(this.#before.get(claim.task)?.claimedBy).toBe(from);
      if (claim.status === 'claimed') this.#claims.push({ pod: by, claim });
    }
  }

  async #mirror(store: Store, pod: PodId, journal: string): Promise<void> {
    const run = { id: newId(), machine: MACHINE, version: 1, payload: '{}', startedAgoMs: 0 };
    const [answer] = await store.mirror(pod, [{ ...run, journal, deadlineMs: undefined }]);
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
      newTask(),
    ]);
    for (const { id, isNew } of answers) {
      expect(this.#known.has(id)).toBe(!isNew);
      this.#known.add(id);
    }
  }

  async #claim(store: Store, a: number, c: number): Promise<void> {
    const index = a % POD_COUNT;
    const journal = `journal-${index}`;
    const status = this.#pods.find(({ pod }) => pod === this.#pod(a))?.status;
    if (status !== 'up') {
      // The pod was never there, or is on its way out: another life of it begins.
      if (status !== undefined) this.#lives[index]!++;
      const name = `${index}-${this.#lives[index]}`;
      await store.register({ ...birthOf(name), journal, nonce: name });
    }
    const pod = this.#pod(a, c);
    const head = c === 3 ? 'suspect' : 'ready';
    const claimed = await store.claim(claimRequest(pod, { head, journal, countMax: 1 + (c % 4) }));
    for (const claim of claimed) {
      const before = this.#before.get(claim.task);
      expect(before?.claimedBy).toBeUndefined();
      expect(claim.epoch).toBeGreaterThan(before!.epoch);
      this.#claims.push({ pod, claim });
    }
    if (pod !== this.#pod(a)) expect(claimed).toEqual([]);
  }

  async #settle(store: Store, a: number, b: number, c: number): Promise<void> {
    const held = this.#claims[this.#claims.length - 1 - b];
    if (!held) return;
    const { pod, claim } = held;
    const options = {
      tail: c % 2 === 0 ? segment(claim, 0, c) : undefined,
      retriesAdd: c % 3,
      hasCompletedStep: c === 5,
    };
    const ways: readonly (() => Settlement)[] = [
      () => completed(claim, options),
      () => failed(claim, options),
      () => cancelled(claim, options),
      () => released(claim, options),
      () => parked(claim, 'retry', c * HOUR, options),
      () => parked(claim, 'sleep', 0, options),
    ];
    const [answer] = await store.settle(pod, [ways[a % ways.length]!()]);
    const before = this.#before.get(claim.task);
    // What no longer stands by the last look cannot stand now: nobody else acted since.
    if (before?.epoch !== claim.epoch || before.claimedBy !== pod) {
      expect(answer?.kind).not.toBe('stood');
    }
  }

  async look(): Promise<void> {
    const { store } = this.#scene;
    expect(await store.violations()).toEqual([]);
    this.#pods = await store.pods();
    const rows = new Map<string, TaskRow>(
      (await store.list({ countMax: ROW_COUNT_MAX })).map((row) => [row.id, row]),
    );
    for (const id of this.#known) if (!rows.has(id)) this.#known.delete(id);
    const gone = [...this.#before.keys()].filter((id) => !rows.has(id));
    expect(gone).toHaveLength(this.#pruned);
    this.#pruned = 0;
    expect([...rows.keys()].sort()).toEqual([...this.#known].sort());
    for (const [id, row] of rows) this.#compare(this.#before.get(id), row);
    this.#before = rows;
  }

  #compare(before: TaskRow | undefined, row: TaskRow): void {
    if (!before) return;
    expect(row.epoch).toBeGreaterThanOrEqual(before.epoch);
    expect(row.generation).toBeGreaterThanOrEqual(before.generation);
    if (row.claimedBy !== before.claimedBy && row.claimedBy !== undefined) {
      expect(row.epoch).toBeGreaterThan(before.epoch);
    }
    if (before.finishedAt !== undefined && row.generation === before.generation) {
      const { status, outcome, result, error, epoch } = before;
      expect(row).toMatchObject({ status, outcome, result, error, epoch });
    }
  }
}

/**
 * The whole of a deploy that was planned: runs are put in flight by pods of version 1, `fleetq plan` says
 * what becomes of each, the pods are drained and pods of version 2 are started, all of it in real
 * processes on a real Postgres. What was foretold and what came of it are given to the judge.
 *
 *   parked ─→ between ─→ inside + untouched ─→ plan ─→ drain v1, start v2 ─→ judge ─→ v1 beside: all end
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { recordsOf } from '../../src/cli/fleet/history.ts';
import type { PlannedRun } from '../../src/cli/fleet/plan-runs.ts';
import { type RunId, systemClock, systemRandom } from '../../src/ground/index.ts';
import { type NewTask, openStore, type Store } from '../../src/store/index.ts';
import { runOn } from '../../test/support/postgres.ts';
import { type Call, type Came, readLedger } from './plan-judge.ts';
import {
  betweenTasks,
  insideTasks,
  parkedTasks,
  type Sizes,
  sizesOf,
  untouchedTasks,
} from './plan-load.ts';
import { askPlan, type Code, DeployPod, type Place, type Planned } from './plan-pods.ts';

export interface StageOptions {
  readonly runs: number;
  readonly url: string;
  readonly directory: string;
  readonly onProgress: (line: string) => void;
}

/** What was foretold, and what there was afterwards. */
export interface Evidence {
  /** Of all that were put in, those that were in flight when it was planned. */
  readonly ids: readonly RunId[];
  readonly foretold: readonly PlannedRun[];
  readonly planned: Planned;
  readonly planMs: number;
  readonly came: ReadonlyMap<string, Came>;
  readonly calls: ReadonlyMap<string, readonly Call[]>;
  /** How many of the blocked were not ended, under their own version, when a pod of it was there. */
  readonly leftAtEnd: number;
}

const ENQUEUE_COUNT = 500;
const LOOK_MS = 250;
/** Nothing has moved for so long. */
const STILL_MS = 1_500;
const PLANS_MAX = 5;
/** What a busy machine may take for one part, and beyond that for every run. */
const PART_MS = 60_000;
const PART_MS_PER_RUN = 60;

export class PlanStage {
  readonly #options: StageOptions;
  readonly #place: Place;
  readonly #sizes: Sizes;
  readonly #store: Store;
  readonly #pods: DeployPod[] = [];
  readonly #ids: RunId[] = [];

  private constructor(options: StageOptions, store: Store) {
    const { url, directory, runs } = options;
    this.#options = options;
    this.#store = store;
    this.#sizes = sizesOf(runs);
    const ledger = join(directory, 'ledger');
    mkdirSync(directory, { recursive: true });
    writeFileSync(ledger, '');
    this.#place = { url, directory, ledger, slots: this.#sizes.slots };
  }

  static async run(options: StageOptions): Promise<Evidence> {
    const open = { clock: systemClock, random: systemRandom, migrates: true };
    const stage = new PlanStage(options, await openStore(options.url, open));
    try {
      return await stage.#run();
    } finally {
      await Promise.all(stage.#pods.map((pod) => pod.kill()));
      await stage.#store.close();
    }
  }

  async #run(): Promise<Evidence> {
    await this.#putInFlight();
    const { ids, planned, foretold, planMs } = await this.#plan();
    await this.#deploy(foretold);
    const came = await this.#look();
    const calls = readLedger(readFileSync(this.#place.ledger, 'utf8'));
    const leftAtEnd = await this.#endBlocked(foretold);
    return { ids, foretold, planned, planMs, came, calls, leftAtEnd };
  }

  async #putInFlight(): Promise<void> {
    const { parked, between, inside, untouched, slots, pods } = this.#sizes;
    await this.#start('v1', 'first', true);
    await this.#enqueue(parkedTasks(parked));
    await this.#until('parked', async () => (await this.#count(`status = 'waiting'`)) === parked);
    await this.#enqueue(betweenTasks(between));
    await this.#standStill('between');
    await this.#drainAll();
    // Before anybody is there to take what was given back: these are more urgent, and fill all room.
    await this.#enqueue(insideTasks(inside));
    await this.#enqueue(untouchedTasks(untouched));
    await this.#start('v1', 'second', true);
    const room = slots * pods;
    await this.#until('inside', async () => (await this.#count(`status = 'claimed'`)) >= room / 2);
    await this.#standStill('inside');
  }

  /** Until nothing has moved while it was being planned: a plan is about one moment. */
  async #plan() {
    const out = join(this.#place.directory, 'plan.jsonl');
    for (let attempt = 1; attempt <= PLANS_MAX; attempt++) {
      const before = this.#ledgerBytes();
      const ids = await this.#inFlight();
      const begunMs = performance.now();
      const planned = await askPlan(this.#place, ['--sample', 'all', '--out', out]);
      const planMs = performance.now() - begunMs;
      if (before !== this.#ledgerBytes()) {
        await this.#standStill('plan');
        continue;
      }
      const lines = readFileSync(out, 'utf8').split('\n').filter(Boolean);
      this.#say(`planned ${lines.length} runs in ${Math.round(planMs)} ms`);
      const foretold = lines.map((line) => JSON.parse(line) as PlannedRun);
      return { ids, planned, planMs, foretold };
    }
    throw new Error('the runs did not stand still');
  }

  async #deploy(foretold: readonly PlannedRun[]): Promise<void> {
    await this.#drainAll();
    await this.#start('v2', 'second', false);
    // Nobody waits for an hour.
    await runOn(
      this.#place.url,
      `update step_tracker set run_at = now()
        where status in ('pending', 'waiting') and run_at > now()
          and wait_for is distinct from 'version'`,
    );
    // Looked at by somebody who could have gone on with it, or of a machine that nobody has.
    const open = `finished_at is null and (wait_for is distinct from 'version')
                  and not (machine = 'plan/gone' and status <> 'claimed')`;
    await this.#until('deployed', async () => (await this.#count(open)) === 0);
    const blocked = foretold.filter(({ fate }) => fate === 'blocked').length;
    this.#say(`${await this.#count('finished_at is null')} left, ${blocked} were to be blocked`);
  }

  async #look(): Promise<ReadonlyMap<string, Came>> {
    const came = new Map<string, Came>();
    const lookAt = async (ids: readonly RunId[]) => {
      for (const row of await this.#store.find(ids)) {
        came.set(row.id, { row, records: await recordsOf(this.#store, row) });
      }
    };
    for (let from = 0; from < this.#ids.length; from += ENQUEUE_COUNT) {
      await lookAt(this.#ids.slice(from, from + ENQUEUE_COUNT));
    }
    // What is blocked is looked at by pods every minute: for a moment it is in their hands.
    await this.#until('seen', async () => {
      const held = this.#ids.filter((id) => came.get(id)?.row.status === 'claimed');
      await lookAt(held);
      return held.length === 0;
    });
    return came;
  }

  /** A pod that has their version comes: it ends them, under that version. */
  async #endBlocked(foretold: readonly PlannedRun[]): Promise<number> {
    await this.#start('v1', 'third', false, 1);
    await this.#until('ended', async () => (await this.#count('finished_at is null')) === 0);
    const blocked = foretold.filter(({ fate }) => fate === 'blocked').map(({ run }) => run);
    const rows = await this.#store.find(blocked as RunId[]);
    return rows.filter(({ status, version }) => status !== 'completed' || version !== 1).length;
  }

  async #start(code: Code, name: string, halts: boolean, count = this.#sizes.pods): Promise<void> {
    const started = Array.from(
      { length: count },
      // Some find the journal of whoever was there before, some find none.
      (_, index) => new DeployPod(this.#place, code, `${name}-${index}`, { halts }),
    );
    this.#pods.push(...started);
    await Promise.all(started.map((pod) => pod.ready()));
  }

  async #drainAll(): Promise<void> {
    await Promise.all(this.#pods.splice(0).map((pod) => pod.drain()));
  }

  async #enqueue(tasks: readonly NewTask[]): Promise<void> {
    for (let from = 0; from < tasks.length; from += ENQUEUE_COUNT) {
      await this.#store.enqueue(tasks.slice(from, from + ENQUEUE_COUNT));
    }
    this.#ids.push(...tasks.map(({ id }) => id));
  }

  /** No call has begun for a while, and what was recorded is in the store. */
  async #standStill(what: string): Promise<void> {
    let bytes = -1;
    await this.#until(
      what,
      async () => {
        const now = this.#ledgerBytes();
        const isStill = now === bytes;
        bytes = now;
        return isStill;
      },
      STILL_MS,
    );
  }

  /** Two pods that claim at once may take a few that were to be left alone, and end them. */
  async #inFlight(): Promise<RunId[]> {
    const text = 'select task_id from step_tracker where finished_at is null';
    const rows = await runOn<{ task_id: string }>(this.#place.url, text);
    const open = new Set(rows.map(({ task_id }) => task_id));
    return this.#ids.filter((id) => open.has(id));
  }

  #ledgerBytes(): number {
    return readFileSync(this.#place.ledger).length;
  }

  async #until(what: string, isSo: () => Promise<boolean>, everyMs = LOOK_MS): Promise<void> {
    const begunMs = performance.now();
    const limitMs = PART_MS + this.#options.runs * PART_MS_PER_RUN;
    while (!(await isSo())) {
      if (performance.now() - begunMs > limitMs) {
        const said = this.#pods.map((pod) => `${pod.name}: ${pod.said.slice(-1_500)}`);
        throw new Error(`${what}: not within ${limitMs} ms\n${said.join('\n')}`);
      }
      await sleep(everyMs);
    }
    this.#say(`${what} after ${Math.round(performance.now() - begunMs)} ms`);
  }

  async #count(where: string): Promise<number> {
    const text = `select count(*)::int as count from step_tracker where ${where}`;
    return (await runOn<{ count: number }>(this.#place.url, text))[0]!.count;
  }

  #say(line: string): void {
    this.#options.onProgress(line);
  }
}

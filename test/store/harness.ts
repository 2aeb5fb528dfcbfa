/** What an adapter's test file gives the conformance suite, and what the suite makes of it. */
import { afterEach, beforeEach, expect } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import type { PodBirth } from '../../src/store/pods.ts';
import type { Capabilities, Store } from '../../src/store/store.ts';
import type { ClaimedTask, ClaimRequest, NewTask, TaskRow } from '../../src/store/tasks.ts';
import type { PodId } from '../../src/store/words.ts';
import { birthOf, claimRequest, newTask, podOf } from './factories.ts';
import { Patience } from './patience.ts';

export { birthOf, claimRequest, podOf } from './factories.ts';

/** Columns of a plain INSERT into step_tracker; those not given are left to their defaults. */
export interface PlainRow {
  readonly machine: string;
  readonly payload?: string;
  readonly task_id?: string;
  readonly version?: number;
  readonly queue?: string;
  readonly priority?: number;
  readonly paused?: boolean;
  readonly parent_id?: string;
  readonly pinned_to?: string;
  readonly status?: string;
  readonly claimed_by?: string;
  readonly claim_epoch?: number;
  readonly wait_for?: string;
  readonly serial_key?: string;
  readonly control?: string;
  readonly claims?: number;
  readonly crashes?: number;
  readonly generation?: number;
  readonly retry_count?: number;
  readonly key?: string;
  readonly key_ms?: number;
  readonly outcome?: string;
  readonly error?: string;
  /** No column: deadline_at is the store's now plus this. */
  readonly deadlineAfterMs?: number;
  /** No column: run_at is the store's now plus this. */
  readonly runAfterMs?: number;
  /** No columns: created_at, last_update, finished_at and discarded_at are these instants. */
  readonly createdAt?: number;
  readonly updatedAt?: number;
  readonly finishedAt?: number;
  readonly discardedAt?: number;
}

/** A row of audit_log; `at` is an instant. */
export interface PlainAudit {
  readonly id: string;
  readonly at: number;
  readonly who: string;
  readonly what: string;
  readonly task_id?: string;
  readonly detail?: string;
}

export type TableName =
  | 'pod_health'
  | 'step_tracker'
  | 'run_events'
  | 'machine_registry'
  | 'audit_log';

export interface StoreHarness {
  /** Another, independent handle on the same tables; the suite closes it. */
  open(): Promise<Store>;
  /** Fresh, empty tables with the newest schema. */
  reset(): Promise<void>;
  /** The store's clock appears to have moved on: memory moves it, SQL shifts all stored times back. */
  pass(ms: number): Promise<void>;
  /** What the store's clock shows, to within a second. */
  now(): number;
  /** The documented plain INSERT. Answers the task_id. */
  insertPlain(row: PlainRow): Promise<string>;
  /** A plain INSERT into audit_log. */
  insertAudit(row: PlainAudit): Promise<void>;
  /** Where processes read late what others wrote: resolves when that is seen by everybody. */
  seen?(): Promise<void>;
  /** Every row of a table, under the columns' own names. */
  rows(table: TableName): Promise<Record<string, unknown>[]>;
  /** A text that this store cannot hold. */
  readonly poison: string;
  /** Whether hints come this way; a pooler swallows them, and then the store has to say so. */
  readonly hasHints: boolean;
  /** How many random sequences the property test tries; 30 unless told. */
  readonly sequenceCount?: number;
  /** How many random crowds of tasks are looked through; 3 unless told. */
  readonly crowdCount?: number;
  /** Readers are the same as of another harness, and are looked at there. */
  readonly readsAlike?: boolean;
  /** What this store says it cannot do; whatever needs it is left out. */
  readonly lacks?: Capabilities['lacks'];
  /** Parts of the suite that another harness has shown of the same statements. */
  readonly leaves?: readonly string[];
  /** What becomes of a task is decided by the rules of the store in memory: some of them are enough. */
  readonly sharesRules?: boolean;
  /** Out of a few that come next each claim picks its own, so that claimers rarely meet. */
  readonly picksItsOwn?: boolean;
}

export class Scene {
  readonly harness: StoreHarness;
  /** Two handles on the same tables: most tests use the first, rivals use both. */
  store!: Store;
  rival!: Store;
  /** Whether the rules of the tables are looked at once the test is over. */
  isChecked = true;

  constructor(harness: StoreHarness) {
    this.harness = harness;
  }

  pass(ms: number): Promise<void> {
    return this.harness.pass(ms);
  }

  async pod(name: string, birth: Partial<PodBirth> = {}): Promise<PodId> {
    const pod = birth.pod ?? podOf(name);
    await this.store.register({ ...birthOf(name), ...birth, pod });
    return pod;
  }

  async enqueue(options: Partial<NewTask> = {}): Promise<RunId> {
    const [answer] = await this.store.enqueue([newTask(options)]);
    expect(answer).toMatchObject({ isNew: true });
    return answer!.id;
  }

  claim(pod: PodId, options: Partial<ClaimRequest> = {}): Promise<ClaimedTask[]> {
    return this.store.claim(claimRequest(pod, options));
  }

  /** The one task there is to claim. */
  async claimOne(pod: PodId, options: Partial<ClaimRequest> = {}): Promise<ClaimedTask> {
    const claimed = await this.claim(pod, options);
    expect(claimed).toHaveLength(1);
    return claimed[0]!;
  }

  /** A new task in the hands of this pod. */
  async claimNew(pod: PodId, options: Partial<NewTask> = {}): Promise<ClaimedTask> {
    const id = await this.enqueue(options);
    const claimed = await this.claimOne(pod, { countMax: 1 });
    expect(claimed.task).toBe(id);
    return claimed;
  }

  async row(id: string): Promise<TaskRow> {
    const [row] = await this.store.find([id as RunId]);
    expect(row, `task ${id}`).toBeDefined();
    return row!;
  }

  async rawRow(id: string): Promise<Record<string, unknown>> {
    const found = (await this.harness.rows('step_tracker')).find((row) => row['task_id'] === id);
    expect(found, `task ${id}`).toBeDefined();
    return found!;
  }

  async rowCount(table: TableName): Promise<number> {
    return (await this.harness.rows(table)).length;
  }

  /** The pod is dead, by the word of another. */
  async kill(pod: PodId, by: PodId = podOf('sweeper')): Promise<void> {
    expect(await this.store.fence(pod, by, 'proved')).toBe(true);
  }
}

/** Fresh tables and two handles for every test; afterwards the rules of the tables must hold. */
export function useScene(harness: StoreHarness): Scene {
  const scene = new Scene(harness);
  beforeEach(async () => {
    await harness.reset();
    scene.isChecked = true;
    const patience = new Patience(harness);
    [scene.store, scene.rival] = await Promise.all([patience.open(), patience.open()]);
  });
  afterEach(async () => {
    try {
      if (scene.isChecked) expect(await scene.store.violations()).toEqual([]);
    } finally {
      await Promise.all([scene.store.close(), scene.rival.close()]);
    }
  });
  return scene;
}

/** Two times of the store that are meant to be one: seconds may pass between, on a machine that is busy. */
export function expectNear(actualMs: number, wantedMs: number): void {
  expect(Math.abs(actualMs - wantedMs), `${actualMs} is near ${wantedMs}`).toBeLessThan(20_000);
}

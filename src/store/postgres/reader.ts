/** A reader of Postgres: where everything is written, or a replica of that. */

import type { RunId } from '../../ground/index.ts';
import { GLANCED_LENGTH_MAX } from '../bounds.ts';
import type { BulkQuery, BulkRow } from '../bulk/bulks.ts';
import type { Census } from '../census.ts';
import { StoreOptionsError } from '../errors.ts';
import type { Follower } from '../follow.ts';
import type { FilledStoreOptions } from '../options.ts';
import { type Outline, outlineOf, type PartQuery } from '../outlines.ts';
import type { PodRow } from '../pods.ts';
import type { Gate, Gated, PausedMachine, QueueRow } from '../queues.ts';
import type * as reader from '../reader.ts';
import { auditPage } from '../reading/audit.ts';
import { readLimits } from '../reading/limits.ts';
import { TasksReader } from '../reading/tasks-reader.ts';
import { isStorable } from '../reading/words.ts';
import type { ScheduleQuery, ScheduleRow } from '../schedule/schedules.ts';
import type { KnownRoute, RouteTally, Segment, TaskRow } from '../tasks.ts';
import type { ThrottleRow } from '../throttles.ts';
import type { PodId } from '../words.ts';
import { selectNoted } from './audit-log.sql.ts';
import { bulkRowOf } from './bulk.ts';
import { selectBulks } from './bulk-operation.sql.ts';
import { selectCensus } from './census.sql.ts';
import { oldestTransactionMs } from './facts.ts';
import { selectFollowers } from './followers.sql.ts';
import { gateBy, pausedMachinesBy, queuesBy } from './gate.ts';
import { selectTerms } from './leader-terms.sql.ts';
import { selectKnown } from './machine-registry.sql.ts';
import { readPostgresWay } from './options.ts';
import { censusOf } from './people.ts';
import { selectPods } from './pod-health.sql.ts';
import { ReadPool } from './read-pool.ts';
import { recordsIn } from './records-in.ts';
import { podRowOf, segmentOf, taskRowOf } from './rows.ts';
import { selectHistories, selectLastSegments, selectOutlines } from './run-events.sql.ts';
import { schedulesOf } from './schedules.ts';
import { countInFlight, selectTasks } from './step-tracker.sql.ts';
import { PostgresTaskSource } from './task-source.ts';
import { throttlesBy } from './throttles.ts';

const BATCH_MAX = 1_000;

/** `address`: of the store; a reader that is given none of its own reads there. */
export function openPostgresReader(
  address: string,
  options: FilledStoreOptions,
  given: reader.ReaderOptions,
): reader.StoreReader {
  const { url, connectionsMax, statementMs } = readLimits(given);
  if (url !== undefined && !/^postgres(ql)?:\/\//i.test(url)) {
    throw new StoreOptionsError(
      'a replica of Postgres has an address like postgres://user@host/database',
    );
  }
  // Another server may be reached in another way: its own address says so.
  const asked = url === undefined ? options : { ...options, isPooled: undefined };
  const way = readPostgresWay(url ?? address, { ...asked, poolSize: connectionsMax });
  return new PostgresReader(new ReadPool(way, statementMs, options), options);
}

class PostgresReader implements reader.StoreReader {
  readonly #pool: ReadPool;
  readonly #source: PostgresTaskSource;
  readonly #tasks: TasksReader;

  constructor(pool: ReadPool, { clock }: FilledStoreOptions) {
    this.#pool = pool;
    this.#source = new PostgresTaskSource(pool);
    this.#tasks = new TasksReader(this.#source, clock);
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
  now(): Promise<number> {
    return this.#source.now();
  }
  page(query: reader.PageQuery): Promise<reader.Page> {
    return this.#tasks.page(query);
  }
  count(query: reader.Unpaged): Promise<reader.Count> {
    return this.#tasks.count(query);
  }
  histogram(query: reader.HistogramQuery): Promise<reader.Histogram> {
    return this.#tasks.histogram(query);
  }
  errors(query: reader.ErrorsQuery): Promise<reader.ErrorGroups> {
    return this.#tasks.errors(query);
  }
  audit(query: reader.AuditQuery): Promise<reader.AuditPage> {
    return auditPage(this.#source, query);
  }

  async noted(requestIds: readonly string[]): Promise<string[]> {
    const rows = await this.#pool.query(selectNoted, [requestIds.slice(0, BATCH_MAX)]);
    return rows.map(({ id }) => id as string);
  }

  async find(ids: readonly RunId[]): Promise<TaskRow[]> {
    const found: TaskRow[] = [];
    for (const batch of batchesOf(ids.filter(isStorable))) {
      found.push(...(await this.#pool.query(selectTasks, [batch])).map(taskRowOf));
    }
    return found;
  }

  histories(runs: readonly RunName[]): Promise<Segment[]> {
    return this.#segments(selectHistories, runs);
  }

  lastSegments(runs: readonly RunName[]): Promise<Segment[]> {
    return this.#segments(selectLastSegments, runs, GLANCED_LENGTH_MAX);
  }

  async #segments(
    statement: string,
    runs: readonly RunName[],
    ...more: readonly number[]
  ): Promise<Segment[]> {
    const found: Segment[] = [];
    const sorted = runs
      .filter(({ task }) => isStorable(task))
      .sort((one, other) => (one.task < other.task ? -1 : 1));
    for (const batch of batchesOf(sorted)) {
      const asked = [
        batch.map(({ task }) => task),
        batch.map(({ generation }) => generation),
        ...more,
      ];
      found.push(...(await this.#pool.query(statement, asked)).map(segmentOf));
    }
    return found;
  }

  async outlines(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Outline[]> {
    const found: Outline[] = [];
    for (const batch of batchesOf(runs.filter(({ task }) => isStorable(task)))) {
      const asked = [batch.map(({ task }) => task), batch.map(({ generation }) => generation)];
      const rows = await this.#pool.query(selectOutlines, asked);
      found.push(...rows.map((row) => outlineOf(segmentOf(row))));
    }
    return found;
  }

  recordsIn(part: PartQuery): Promise<string[]> {
    return recordsIn(this.#pool, part);
  }

  async pods(): Promise<PodRow[]> {
    return (await this.#pool.query(selectPods)).map(podRowOf);
  }

  async known(): Promise<KnownRoute[]> {
    const rows = await this.#pool.query(selectKnown);
    return rows.map(({ first_seen: firstSeenAt, ...row }) => ({ ...row, firstSeenAt }) as never);
  }

  async inFlight(): Promise<RouteTally[]> {
    return (await this.#pool.query(countInFlight)) as unknown as RouteTally[];
  }

  schedules(query: ScheduleQuery): Promise<ScheduleRow[]> {
    return schedulesOf((text, values) => this.#pool.query(text, values), query);
  }

  async census(countMax: number, silentMs: number): Promise<Census> {
    const [row = {}] = await this.#pool.query(selectCensus, [countMax, silentMs]);
    return { ...censusOf(row), oldestTransactionMs: await oldestTransactionMs(this.#pool) };
  }

  queues(): Promise<QueueRow[]> {
    return queuesBy(this.#pool);
  }
  throttles(): Promise<ThrottleRow[]> {
    return throttlesBy(this.#pool);
  }
  pausedMachines(): Promise<PausedMachine[]> {
    return pausedMachinesBy(this.#pool);
  }
  gateOf(task: Gated): Promise<Gate> {
    return gateBy(this.#pool, task);
  }
  async followers(run: RunId, countMax: number): Promise<Follower[]> {
    if (!isStorable(run)) return [];
    const rows = await this.#pool.query(selectFollowers, [run, Math.max(0, countMax)]);
    return rows.map((row) => ({
      run: row['task_id'] as RunId,
      machine: row['machine'] as string,
      status: row['status'] as Follower['status'],
      on: row['follows_on'] as Follower['on'],
    }));
  }

  async bulks({ ids, before, countMax }: BulkQuery): Promise<BulkRow[]> {
    const asked = ids?.filter(isStorable) ?? null;
    if (before !== undefined && !isStorable(before)) return [];
    const values = [asked, before ?? null, Math.max(0, Math.min(countMax, BATCH_MAX))];
    return (await this.#pool.query(selectBulks, values)).map(bulkRowOf);
  }

  async leaderTerms(countMax: number): Promise<reader.LeaderTerm[]> {
    const rows = await this.#pool.query(selectTerms, [Math.max(0, Math.min(countMax, BATCH_MAX))]);
    return rows.map((row) => ({
      pod: row['pod_id'] as PodId,
      name: row['name'] as string,
      since: row['since'] as number,
    }));
  }
}

interface RunName {
  readonly task: RunId;
  readonly generation: number;
}

function* batchesOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += BATCH_MAX) {
    yield items.slice(from, from + BATCH_MAX);
  }
}

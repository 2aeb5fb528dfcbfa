/** A reader of the tables in memory. It walks them as the others walk theirs, slice by slice. */

import type { RunId } from '../../ground/index.ts';
import type { BulkQuery, BulkRow } from '../bulk/bulks.ts';
import type { Census } from '../census.ts';
import { StoreOptionsError, StoreUnreachableError } from '../errors.ts';
import type { Follower } from '../follow.ts';
import type { Outline, PartQuery } from '../outlines.ts';
import type { PodRow } from '../pods.ts';
import type { Gate, Gated, PausedMachine, QueueRow } from '../queues.ts';
import type * as reader from '../reader.ts';
import { auditPage } from '../reading/audit.ts';
import { readLimits } from '../reading/limits.ts';
import { TasksReader } from '../reading/tasks-reader.ts';
import type { ScheduleQuery, ScheduleRow } from '../schedule/schedules.ts';
import type { KnownRoute, RouteTally, Segment, TaskRow } from '../tasks.ts';
import type { ThrottleRow } from '../throttles.ts';
import { histories, lastSegments, outlines, recordsIn } from './archive.ts';
import { bulks } from './bulk.ts';
import { census } from './census.ts';
import { find } from './changes.ts';
import * as flow from './flow.ts';
import { allFollowersOf } from './followers.ts';
import { known, pods } from './pods.ts';
import { schedules } from './schedules.ts';
import type { MemoryTables } from './tables.ts';
import { inFlight } from './tallies.ts';
import { MemoryTaskSource, newestFirst } from './task-source.ts';
import { throttles } from './throttles.ts';

export function openMemoryReader(
  tables: MemoryTables,
  options: reader.ReaderOptions,
): reader.StoreReader {
  if (readLimits(options).url !== undefined) {
    throw new StoreOptionsError('tables in memory have no replica: they are where they are');
  }
  return new MemoryReader(tables);
}

class MemoryReader implements reader.StoreReader {
  readonly #tables: MemoryTables;
  readonly #source: MemoryTaskSource;
  readonly #tasks: TasksReader;
  #isClosed = false;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
    this.#source = new MemoryTaskSource(() => this.#open());
    this.#tasks = new TasksReader(this.#source, tables.clock);
  }

  #open(): MemoryTables {
    if (this.#isClosed) throw new StoreUnreachableError('the reader has been closed');
    return this.#tables;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
  async now(): Promise<number> {
    return this.#open().now();
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
    const { audit } = this.#open();
    return requestIds.filter((id) => audit.has(id));
  }
  async find(ids: readonly RunId[]): Promise<TaskRow[]> {
    return find(this.#open(), ids);
  }
  async histories(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Segment[]> {
    return histories(this.#open(), runs);
  }
  async outlines(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Outline[]> {
    return outlines(this.#open(), runs);
  }
  async recordsIn(part: PartQuery): Promise<string[]> {
    return recordsIn(this.#open(), part);
  }
  async lastSegments(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Segment[]> {
    return lastSegments(this.#open(), runs);
  }
  async pods(): Promise<PodRow[]> {
    return pods(this.#open());
  }
  async known(): Promise<KnownRoute[]> {
    return known(this.#open());
  }
  async inFlight(): Promise<RouteTally[]> {
    return inFlight(this.#open());
  }
  async schedules(query: ScheduleQuery): Promise<ScheduleRow[]> {
    return schedules(this.#open(), query);
  }
  async census(countMax: number, silentMs: number): Promise<Census> {
    return census(this.#open(), countMax, silentMs);
  }
  async bulks(query: BulkQuery): Promise<BulkRow[]> {
    return bulks(this.#open(), query);
  }
  async queues(): Promise<QueueRow[]> {
    return flow.queues(this.#open());
  }
  async throttles(): Promise<ThrottleRow[]> {
    return throttles(this.#open());
  }
  async pausedMachines(): Promise<PausedMachine[]> {
    return flow.pausedMachines(this.#open());
  }
  async gateOf(task: Gated): Promise<Gate> {
    return flow.gateOf(this.#open(), task);
  }
  async followers(run: RunId, countMax: number): Promise<Follower[]> {
    return allFollowersOf(this.#open(), run).slice(0, Math.max(0, countMax));
  }
  async leaderTerms(countMax: number): Promise<reader.LeaderTerm[]> {
    return [...this.#open().terms.values()]
      .sort(newestFirst(({ since, podId }) => ({ at: since, id: podId })))
      .slice(0, Math.max(0, countMax))
      .map(({ podId: pod, name, since }) => ({ pod, name, since }));
  }
}

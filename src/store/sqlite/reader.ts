/** A reader of a SQLite file: a connection of its own, which cannot write. */

import type { RunId } from '../../ground/index.ts';
import type { BulkQuery, BulkRow } from '../bulk/bulks.ts';
import type { Census } from '../census.ts';
import { StoreOptionsError, StoreUnreachableError } from '../errors.ts';
import type { Follower } from '../follow.ts';
import { sqlitePath } from '../open-store.ts';
import type { Outline, PartQuery } from '../outlines.ts';
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
import * as archive from './archive.ts';
import { selectNoted } from './audit-log.sql.ts';
import { bulks } from './bulk.ts';
import { census } from './census.ts';
import { openToRead } from './connection.ts';
import { selectAllFollowers } from './followers.sql.ts';
import { selectTerms } from './leader-terms.sql.ts';
import type { SqliteOptions } from './migrate.ts';
import * as people from './people.ts';
import { inspectPlace, placeOf } from './place.ts';
import * as pods from './pods.ts';
import * as flow from './queues.ts';
import { schedules } from './schedules.ts';
import { refuseUnmigrated } from './schema.ts';
import { Session, type Tx, unlessBusy } from './session.ts';
import { SqliteTaskSource } from './task-source.ts';
import { throttles } from './throttles.ts';

const TERMS_MAX = 1_000;

/** `file`: of the store; a reader that is given no address of its own reads there. */
export async function openSqliteReader(
  file: string,
  options: SqliteOptions,
  given: reader.ReaderOptions,
): Promise<reader.StoreReader> {
  const { url } = readLimits(given);
  if (url !== undefined && !/^sqlite:/i.test(url)) {
    throw new StoreOptionsError('a copy of a SQLite store has an address like sqlite:./file.db');
  }
  const place = placeOf(url === undefined ? file : sqlitePath(url));
  inspectPlace(place);
  const connection = await unlessBusy(place.file, options, () => openToRead(place.file));
  try {
    await unlessBusy(place.file, options, () => refuseUnmigrated(connection));
    return new SqliteReader(new Session(connection, options), options);
  } catch (error) {
    connection.close();
    throw error;
  }
}

class SqliteReader implements reader.StoreReader {
  readonly #session: Session;
  readonly #source: SqliteTaskSource;
  readonly #tasks: TasksReader;
  #isClosed = false;

  constructor(session: Session, { clock }: SqliteOptions) {
    this.#session = session;
    this.#source = new SqliteTaskSource(
      (text, values) => this.#unlessClosed(() => session.once(text, values)),
      () => this.now(),
    );
    this.#tasks = new TasksReader(this.#source, clock);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#session.close();
  }

  now(): Promise<number> {
    return this.#read((tx) => tx.now);
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
  noted(requestIds: readonly string[]): Promise<string[]> {
    return this.#read((tx) => requestIds.filter((id) => tx.get(selectNoted, { id }) !== undefined));
  }
  find(ids: readonly RunId[]): Promise<TaskRow[]> {
    return this.#read((tx) => people.find(tx, ids.filter(isStorable)));
  }
  histories(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Segment[]> {
    const sorted = runs.filter(({ task }) => isStorable(task)).sort(archive.byName);
    return this.#read((tx) => archive.histories(tx, sorted));
  }
  outlines(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Outline[]> {
    const sorted = runs.filter(({ task }) => isStorable(task)).sort(archive.byName);
    return this.#read((tx) => archive.outlines(tx, sorted));
  }
  recordsIn(part: PartQuery): Promise<string[]> {
    return this.#read((tx) => archive.recordsIn(tx, part));
  }
  lastSegments(
    runs: readonly { readonly task: RunId; readonly generation: number }[],
  ): Promise<Segment[]> {
    const sorted = runs.filter(({ task }) => isStorable(task)).sort(archive.byName);
    return this.#read((tx) => archive.lastSegments(tx, sorted));
  }
  pods(): Promise<PodRow[]> {
    return this.#read((tx) => pods.pods(tx));
  }
  known(): Promise<KnownRoute[]> {
    return this.#read((tx) => pods.known(tx));
  }
  inFlight(): Promise<RouteTally[]> {
    return this.#read((tx) => people.inFlight(tx));
  }
  schedules(query: ScheduleQuery): Promise<ScheduleRow[]> {
    return this.#read((tx) => schedules(tx, query));
  }
  census(countMax: number, silentMs: number): Promise<Census> {
    return this.#read((tx) => census(tx, countMax, silentMs));
  }
  queues(): Promise<QueueRow[]> {
    return this.#read(flow.queues);
  }
  throttles(): Promise<ThrottleRow[]> {
    return this.#read(throttles);
  }
  pausedMachines(): Promise<PausedMachine[]> {
    return this.#read(flow.pausedMachines);
  }
  gateOf(task: Gated): Promise<Gate> {
    return this.#read((tx) => flow.gateOf(tx, task));
  }
  followers(run: RunId, countMax: number): Promise<Follower[]> {
    const count = Math.max(0, countMax);
    return this.#read((tx) => tx.all<Follower>(selectAllFollowers, { run, count }));
  }
  bulks(query: BulkQuery): Promise<BulkRow[]> {
    return this.#read((tx) => bulks(tx, query));
  }
  leaderTerms(countMax: number): Promise<reader.LeaderTerm[]> {
    const count = Math.max(0, Math.min(countMax, TERMS_MAX));
    type Row = { readonly pod_id: PodId; readonly name: string; readonly since: number };
    return this.#read((tx) =>
      tx
        .all<Row>(selectTerms, { count })
        .map(({ pod_id: pod, name, since }) => ({ pod, name, since })),
    );
  }

  #read<Answer>(act: (tx: Tx) => Answer): Promise<Answer> {
    return this.#unlessClosed(() => this.#session.read(act));
  }

  async #unlessClosed<Answer>(act: () => Promise<Answer>): Promise<Answer> {
    try {
      this.#refuseClosed();
      return await act();
    } catch (error) {
      this.#refuseClosed();
      throw error;
    }
  }

  #refuseClosed(): void {
    if (this.#isClosed) throw new StoreUnreachableError('the reader has been closed');
  }
}

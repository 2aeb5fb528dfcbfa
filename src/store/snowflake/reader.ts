/** A reader of an account: sessions of its own, few, so that nobody who looks is felt by a claim. */
import type { RunId } from '../../ground/index.ts';
import type { BulkQuery, BulkRow } from '../bulk/bulks.ts';
import type { Census } from '../census.ts';
import type { Follower } from '../follow.ts';
import { bulks as bulksRule } from '../memory/bulk.ts';
import * as flow from '../memory/flow.ts';
import { schedules as schedulesRule } from '../memory/schedules.ts';
import { newestFirst } from '../memory/task-source.ts';
import type { Outline, PartQuery } from '../outlines.ts';
import type { PodRow } from '../pods.ts';
import type { Gate, Gated, PausedMachine, QueueRow } from '../queues.ts';
import type * as reader from '../reader.ts';
import { auditPage } from '../reading/audit.ts';
import { TasksReader } from '../reading/tasks-reader.ts';
import type { ScheduleQuery, ScheduleRow } from '../schedule/schedules.ts';
import type { KnownRoute, RouteTally, Segment, TaskRow } from '../tasks.ts';
import type { ThrottleRow } from '../throttles.ts';
import type { Calls } from './calls.ts';
import { STEP_TRACKER } from './columns.ts';
import { gather, gatherAudits, gatherFact, gatherFacts } from './gather.ts';
import * as looks from './looks.ts';
import * as pods from './pods.ts';
import { sql } from './sql.ts';
import * as tallies from './tallies.ts';
import { SnowflakeTaskSource } from './task-source.ts';
import * as out from './tasks-out.ts';

type Runs = readonly { readonly task: RunId; readonly generation: number }[];

/** ? queue: who holds what of it. */
const selectClaimsOf = sql`
  select t.task_id, t.claimed_by, t.queue, t.status, t.pinned_to, t.rev
    from step_tracker t where t.status = 'claimed' and t.queue = ?`;

export class SnowflakeReader implements reader.StoreReader {
  readonly #calls: Calls;
  readonly #source: SnowflakeTaskSource;
  readonly #tasks: TasksReader;

  constructor(calls: Calls) {
    this.#calls = calls;
    this.#source = new SnowflakeTaskSource(calls);
    this.#tasks = new TasksReader(this.#source, calls.sessions.clock);
  }

  close(): Promise<void> {
    return this.#calls.sessions.close();
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
  noted(requestIds: readonly string[]): Promise<string[]> {
    return this.#calls.look(
      (reading) => gatherAudits(reading, requestIds),
      ({ audit }) => requestIds.filter((id) => audit.has(id)),
    );
  }
  find(ids: readonly RunId[]): Promise<TaskRow[]> {
    return looks.find(this.#calls, ids);
  }
  histories(runs: Runs): Promise<Segment[]> {
    return out.histories(this.#calls, runs);
  }
  outlines(runs: Runs): Promise<Outline[]> {
    return out.outlines(this.#calls, runs);
  }
  recordsIn(part: PartQuery): Promise<string[]> {
    return out.recordsIn(this.#calls, part);
  }
  lastSegments(runs: Runs): Promise<Segment[]> {
    return out.lastSegments(this.#calls, runs);
  }
  pods(): Promise<PodRow[]> {
    return pods.pods(this.#calls);
  }
  throttles(): Promise<ThrottleRow[]> {
    return pods.throttles(this.#calls);
  }
  known(): Promise<KnownRoute[]> {
    return pods.known(this.#calls);
  }
  inFlight(): Promise<RouteTally[]> {
    return tallies.inFlight(this.#calls);
  }
  census(countMax: number, silentMs: number): Promise<Census> {
    return tallies.census(this.#calls, countMax, silentMs);
  }
  queues(): Promise<QueueRow[]> {
    return tallies.queues(this.#calls);
  }
  pausedMachines(): Promise<PausedMachine[]> {
    return pausedMachines(this.#calls);
  }
  bulks(query: BulkQuery): Promise<BulkRow[]> {
    return this.#calls.look(
      (reading) => gatherFacts(reading, 'bulk'),
      (tables) => bulksRule(tables, query),
    );
  }
  schedules(query: ScheduleQuery): Promise<ScheduleRow[]> {
    return this.#calls.look(
      (reading) => gatherFacts(reading, 'schedule'),
      (tables) => schedulesRule(tables, query),
    );
  }
  gateOf(task: Gated): Promise<Gate> {
    return this.#calls.look(
      async (reading) => {
        await gatherFact(reading, 'queue', task.queue);
        await gatherFact(reading, 'machine', task.machine);
        await gather(reading, STEP_TRACKER, selectClaimsOf, [task.queue]);
      },
      (tables) => flow.gateOf(tables, task),
    );
  }
  /** Nobody can follow a run there. */
  async followers(): Promise<Follower[]> {
    return [];
  }
  leaderTerms(countMax: number): Promise<reader.LeaderTerm[]> {
    return this.#calls.look(
      (reading) => gatherFacts(reading, 'term'),
      ({ terms }) =>
        [...terms.values()]
          .sort(newestFirst(({ since, podId }) => ({ at: since, id: podId })))
          .slice(0, Math.max(0, countMax))
          .map(({ podId: pod, name, since }) => ({ pod, name, since })),
    );
  }
}

export function pausedMachines(calls: Calls): Promise<PausedMachine[]> {
  return calls.look((reading) => gatherFacts(reading, 'machine'), flow.pausedMachines);
}

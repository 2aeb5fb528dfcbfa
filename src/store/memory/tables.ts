/**
 * The shared tables as plain objects, for simulation and for tests. They have one clock and one
 * source of chance, as a server has, whatever those of the pods may show; and every row is reached
 * in an order of its own, never in the order in which it happened to be put in.
 */
import type { Clock, Random, RunId } from '../../ground/index.ts';
import type { BulkRow } from '../bulk/bulks.ts';
import { StoreRefusedError } from '../errors.ts';
import type { Follows } from '../follow.ts';
import { groupsOf, joined, noticeOf, type Ready } from '../notice.ts';
import type { ScheduleRow } from '../schedule/schedules.ts';
import type { Hint, OnHint } from '../store.ts';
import {
  END_STATUSES,
  type Interruption,
  type PodId,
  type PodStatus,
  routeOf,
  type TaskStatus,
  type WaitFor,
} from '../words.ts';
import { refuseRow } from './refuse-row.ts';
import { Segments } from './segments.ts';
import { Server } from './server.ts';
import {
  type AuditRecord,
  FlowTables,
  type RegistryRecord,
  type TermRecord,
} from './small-tables.ts';

export type { AuditRecord, RegistryRecord, TermRecord } from './small-tables.ts';

import type { ThrottleRecord } from './throttles.ts';

export interface PodRecord {
  readonly podId: PodId;
  readonly name: string;
  readonly journalId: string;
  readonly boot: number;
  readonly birthTimestamp: number;
  readonly silenceMs: number | undefined;
  readonly routes: readonly string[];
  lastHeartbeat: number;
  beatSeq: number;
  beatNonce: string;
  status: PodStatus;
  desired: 'drain' | 'pause' | 'rest' | undefined;
  journalLsn: number;
  /** JSON text, so that nobody can change what was written. */
  report: string;
  deadAt: number | undefined;
  deadBy: PodId | undefined;
}

export interface TaskRecord {
  readonly taskId: RunId;
  readonly machine: string;
  version: number;
  readonly queue: string;
  readonly priority: number;
  payload: string | undefined;
  readonly retriesMax: number | undefined;
  readonly keyMs: number;
  readonly pinnedTo: string | undefined;
  readonly parentId: string | undefined;
  readonly traceParent: string | undefined;
  readonly createdAt: number;
  /** When its generation began: deadlines are counted from here. */
  begunAt: number;
  /** When the first record of its generation came. */
  recordedAt: number | undefined;
  generation: number;
  runAt: number;
  status: TaskStatus;
  waitFor: WaitFor | undefined;
  claimEpoch: number;
  acts: number;
  claimedBy: PodId | undefined;
  claimToken: string | undefined;
  claimedAt: number | undefined;
  retryCount: number;
  crashes: number;
  interrupted: Interruption | undefined;
  cutEpoch: number | undefined;
  claims: number;
  control: 'cancel' | 'pause' | undefined;
  controlReason: string | undefined;
  paused: boolean;
  readonly serialKey: string | undefined;
  serialHeld: boolean;
  readonly follows: Follows | undefined;
  key: string | undefined;
  keyUntil: number | undefined;
  keyGeneration: number;
  carryFrom: number | undefined;
  deadlineAt: number | undefined;
  putOffMs: number;
  outcome: string | undefined;
  result: string | undefined;
  error: string | undefined;
  lastSeq: number;
  lastHash: string | undefined;
  lastUpdate: number;
  finishedAt: number | undefined;
  discardedAt: number | undefined;
}

export class MemoryTables extends Server {
  readonly pods = new Map<string, PodRecord>();
  readonly tasks = new Map<string, TaskRecord>();
  /** By `segmentKey`. */
  readonly events = new Segments();
  readonly registry = new Map<string, RegistryRecord>();
  /** What people changed, by the id of their request. */
  readonly audit = new Map<string, AuditRecord>();
  readonly bulks = new Map<string, BulkRow>();
  readonly flow = new FlowTables();
  readonly schedules = new Map<string, ScheduleRow>();
  /** By API. */
  readonly throttles = new Map<string, ThrottleRecord>();
  /** By the pod and which of its terms. */
  readonly terms = new Map<string, TermRecord>();
  /** Whether a task has ever had a serial key: nobody looks for turns before. */
  hasSerials = false;
  /** The same of tasks that follow others. */
  hasFollowers = false;
  /** By serial key whose turn is to be given on: until when the one that had it has taken its time. */
  readonly servedUntil = new Map<string, number>();
  readonly random: Random;
  readonly clock: Clock;
  readonly #listeners = new Set<OnHint>();
  readonly #hinted = new Map<Hint, Ready>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    super();
    this.clock = clock;
    this.random = random;
  }

  now(): number {
    return this.clock.now();
  }

  /** Tasks that are so, in the order of their ids. */
  tasksWhere(is: (task: TaskRecord) => boolean): TaskRecord[] {
    const found: TaskRecord[] = [];
    for (const task of this.tasks.values()) if (is(task)) found.push(task);
    return found.length > 1 ? found.sort(byId) : found;
  }

  /** Pods that are so, the oldest first. */
  podsWhere(is: (pod: PodRecord) => boolean): PodRecord[] {
    return [...this.pods.values()].filter(is).sort(
      by(
        (pod) => pod.birthTimestamp,
        (pod) => pod.podId,
      ),
    );
  }

  isPod(pod: PodId, ...statuses: readonly PodStatus[]): boolean {
    const status = this.pods.get(pod)?.status;
    return status !== undefined && statuses.includes(status);
  }

  /** A row as a plain INSERT makes it: what is not given has its default. */
  insert(given: Pick<TaskRecord, 'machine'> & Partial<TaskRecord>): TaskRecord {
    const now = this.now();
    // Onto one literal, so that all rows have one shape: they are read far more often than made.
    const task = Object.assign(defaults(given.taskId ?? this.#uuid(), now), given);
    refuseRow(task);
    this.tasks.set(task.taskId, task);
    if (task.serialKey !== undefined) this.hasSerials = true;
    if (task.follows !== undefined) this.hasFollowers = true;
    const ready = { count: 1, routes: [routeOf(task)] };
    if (task.status === 'pending') this.hint('ready', ready);
    return task;
  }

  listen(onHint: OnHint): () => void {
    // A wrapper of its own, so that two who listen with one function are two.
    const listener: OnHint = (hint, notice) => onHint(hint, notice);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Told after this turn, once for however many changes it saw: as over a network. */
  hint(hint: Hint, ready: Ready = {}): void {
    if (this.#listeners.size === 0) return;
    const held = this.#hinted.get(hint);
    this.#hinted.set(hint, held ? joined(held, ready) : ready);
    if (held) return;
    this.clock.soon(() => {
      const held = this.#hinted.get(hint)!;
      this.#hinted.delete(hint);
      const groups = groupsOf(this.podsWhere(({ status }) => status === 'up'));
      const notice = hint === 'ready' ? noticeOf(held, groups, this.random) : undefined;
      for (const listener of [...this.#listeners]) listener(hint, notice);
    });
  }

  #uuid(): RunId {
    const hex = this.random.hex(16);
    const [a, b, c] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)];
    return `${a}-${b}-4${c}-a${hex.slice(17, 20)}-${hex.slice(20)}` as RunId;
  }
}

/** A week, as in the SQL stores. */
const KEY_MS = 7 * 24 * 3_600_000;

function defaults(taskId: RunId, now: number): TaskRecord {
  return {
    taskId,
    machine: '',
    version: 1,
    queue: 'default',
    priority: 0,
    payload: undefined,
    retriesMax: undefined,
    keyMs: KEY_MS,
    pinnedTo: undefined,
    parentId: undefined,
    traceParent: undefined,
    createdAt: now,
    begunAt: now,
    recordedAt: undefined,
    generation: 1,
    runAt: now,
    status: 'pending',
    waitFor: undefined,
    claimEpoch: 0,
    acts: 0,
    claimedBy: undefined,
    claimToken: undefined,
    claimedAt: undefined,
    retryCount: 0,
    crashes: 0,
    interrupted: undefined,
    cutEpoch: undefined,
    claims: 0,
    control: undefined,
    controlReason: undefined,
    paused: false,
    serialKey: undefined,
    serialHeld: false,
    follows: undefined,
    key: undefined,
    keyUntil: undefined,
    keyGeneration: 1,
    carryFrom: undefined,
    deadlineAt: undefined,
    putOffMs: 0,
    outcome: undefined,
    result: undefined,
    error: undefined,
    lastSeq: -1,
    lastHash: undefined,
    lastUpdate: now,
    finishedAt: undefined,
    discardedAt: undefined,
  };
}

export function isEnded(task: TaskRecord): boolean {
  return (END_STATUSES as readonly TaskStatus[]).includes(task.status);
}

/** Orders by the first property that differs; texts by their code units, on every host alike. */
export function by<Row>(...keys: readonly ((row: Row) => string | number)[]) {
  return (a: Row, b: Row): number => {
    for (const key of keys) {
      const left = key(a);
      const right = key(b);
      if (left !== right) return left < right ? -1 : 1;
    }
    return 0;
  };
}

const byId = by<TaskRecord>((task) => task.taskId);

/** Why the tables cannot hold these texts; undefined where they can. As in Postgres, NUL is no text. */
export function unstorable(...texts: readonly (string | undefined)[]): string | undefined {
  return texts.some((text) => text?.includes('\u0000')) ? 'a text contains NUL' : undefined;
}

export function refuseUnstorable(...texts: readonly (string | undefined)[]): void {
  const reason = unstorable(...texts);
  if (reason !== undefined) throw new StoreRefusedError(`the store refused the values: ${reason}`);
}

/**
 * A run with a deadline ends by it, whoever holds it by then: never before its time, nothing of it is
 * begun after it, and a fleet that is well has ended it soon after. The time is the store's: it is noted
 * when the task is enqueued, redriven or put off, and nobody else may move it. Of a host's own runs the
 * host's clock decides, and they are judged where that was right all the while.
 *
 *   enqueued ── claimed ── TAKEN ── TAKEN ──▶ deadline ──▶ TIMED_OUT
 *                          └ no phase begins after it ──┘
 */
import type { LiveRun } from '../../src/engine/live-run.ts';
import type { Prepared } from '../../src/journal/record.ts';
import type { TaskRecord } from '../../src/store/memory/tables.ts';
import type { ClaimRequest, Settlement } from '../../src/store/tasks.ts';
import { routeOf, SUSPECT_CRASHES } from '../../src/store/words.ts';
import { limitedPlan } from './limited-shapes.ts';
import { BEGIN_MS, type Process } from './process.ts';
import type { World } from './world.ts';

/** What a wall clock may be wrong by before a run follows the monotonic one, and what that may be. */
const CLOCK_OFF_MS = 1_000;
const DRIFT = 0.05;
const ROUNDED_MS = 10;
/** A clock that is right is shown in whole milliseconds. */
const RIGHT_MS = 2;
/** After this a fleet that is well, and has room, has ended what is past its deadline: swept, taken over. */
const LATE_MS_MAX = 30_000;
/** Nobody here is given so much time, unless the store's clock was set meanwhile. */
const FAR_OFF_MS = 60_000;

type Head = ClaimRequest['head'];

interface Limit {
  /** By the simulation's clock. */
  readonly endMs: number;
  readonly timeoutMs: number;
}

/** What a claim was worth when it was made: its pod counts from when it heard of it. */
interface Hold {
  readonly claimedMs: number;
  /** From then until its first record here. */
  heardMs?: number;
  pausedMs?: number;
}

/** Somebody had room, for what it can run. */
interface Room {
  readonly ms: number;
  readonly routes: readonly string[];
}

export class DeadlineJudge {
  readonly #world: World;
  readonly #limits = new Map<string, Limit>();
  /** By task and epoch. */
  readonly #holds = new Map<string, Hold>();
  readonly #owners = new Map<string, number>();
  /** By run of a host's own: when it began, and how far its clock was off. */
  readonly #locals = new Map<string, { readonly beganMs: number; readonly offMs: number }>();
  /** By run: the record after which its last phase was begun. */
  readonly #begun = new Map<string, string>();
  /** By task and epoch, of every limited task: until when its holder takes it to have time. */
  readonly #toldMs = new Map<string, number>();
  /** When somebody had room for more than there was to claim: whoever waits for its turn has had it. */
  readonly #room: Record<Head, Room[]> = { ready: [], suspect: [] };
  /** Put off by somebody, or held where a clock was wrong: it may wake before its sleep is over. */
  readonly #unsettled = new Set<string>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Somebody has given it the time it has from now on. */
  given(task: string, how: 'enqueued' | 'redriven' | 'put off'): void {
    const row = this.#world.tables.tasks.get(task as TaskRecord['taskId']);
    const timeoutMs = row && limitedPlan(row.machine)?.runTimeoutMs;
    // By a clock that is set nothing can be said of when it has to end.
    if (!row || timeoutMs === undefined || this.#world.setsStoreClock) return;
    const [from, at] = [Math.max(row.runAt, row.begunAt), row.deadlineAt ?? 0];
    // What was put off before it ended has as much more when it is redriven.
    if (how === 'put off' || at - from > timeoutMs) this.#unsettled.add(task);
    const isExact = how === 'enqueued' ? at === from + timeoutMs : at >= from + timeoutMs;
    if (!isExact && how !== 'put off') {
      this.#world.violate('deadline', `${task} was ${how}, and has ${at - from} ms`);
    }
    this.#limits.set(task, { endMs: at - BEGIN_MS, timeoutMs: at - from });
  }

  /** Its holder is told how much time it has left: where it asks again, by the clock as it is then. */
  told({ taskId, claimEpoch, deadlineAt, machine }: TaskRecord): void {
    if (!limitedPlan(machine) || deadlineAt === undefined) return;
    const toldMs = this.#world.nowMs + deadlineAt - this.#world.tables.now();
    // Once it has begun it goes by what it was told first.
    const claim = `${taskId} ${claimEpoch}`;
    this.#toldMs.set(claim, Math.max(toldMs, this.#toldMs.get(claim) ?? 0));
  }

  /** It was given to somebody. */
  claimed(row: TaskRecord): void {
    const { taskId, claimEpoch, deadlineAt } = row;
    this.told(row);
    const limit = this.#limits.get(taskId);
    if (!limit) return;
    this.#holds.set(`${taskId} ${claimEpoch}`, { claimedMs: this.#world.nowMs });
    this.#owners.set(taskId, (this.#owners.get(taskId) ?? 0) + 1);
    this.#stands(taskId, limit, deadlineAt);
  }

  /** Whoever asked for tasks got so many. */
  answered({ pod, head, countMax, routes }: ClaimRequest, count: number): void {
    // What somebody asked for before it died is heard late, and it gets nothing whatever there is.
    if (!this.#world.tables.isPod(pod, 'up')) return;
    if (count < countMax) this.#room[head].push({ ms: this.#world.nowMs, routes });
  }

  /** The store's clock was set after its holder was told how much time it has, and nothing else ends it. */
  isFarOff({ taskId, claimEpoch, status }: TaskRecord): boolean {
    const toldMs = this.#toldMs.get(`${taskId} ${claimEpoch}`) ?? 0;
    return status === 'claimed' && toldMs > this.#world.nowMs + FAR_OFF_MS;
  }

  #stands(task: string, { endMs }: Limit, deadlineAt: number | undefined): void {
    if (deadlineAt === endMs + BEGIN_MS) return;
    const byMs = (deadlineAt ?? 0) - BEGIN_MS - endMs;
    this.#world.violate('deadline', `of ${task} was moved by ${byMs} ms`);
  }

  /** A record is on its way to the disk of this process; `run` as it was before. */
  appended(process: Process, run: LiveRun | undefined, { entry }: Prepared): void {
    const { event } = entry;
    if (event.type === 'STARTED' && !this.#limits.has(entry.run) && event.deadlineAt) {
      const offMs = this.#offMs(process);
      this.#locals.set(entry.run, { beganMs: this.#world.nowMs, offMs });
    }
    if (!run || run.plan.runTimeoutMs === undefined) return;
    if (!isRight(this.#offMs(process))) this.#unsettled.add(entry.run);
    const hold = this.#holds.get(`${entry.run} ${run.tie?.epoch}`);
    if (hold && hold.heardMs === undefined) {
      hold.heardMs = this.#world.nowMs - hold.claimedMs;
      hold.pausedMs = process.pausedMs;
    }
    if (event.type === 'TIMED_OUT') this.#early(process, run);
    // What was answered while it was paused counts, though it is heard after its time.
    const pausedMs = process.pausedMs - (hold?.pausedMs ?? 0);
    if (event.type === 'DONE') this.#late(process, run, 'went on with', pausedMs);
  }

  /** Somebody has let go of these: by a clock that was set it may have taken a wait for over. */
  left(process: Process, settlements: readonly Pick<Settlement, 'task'>[]): void {
    if (isRight(this.#offMs(process))) return;
    for (const { task } of settlements) this.#unsettled.add(task);
  }

  /** A handler is called. */
  begins(process: Process, run: LiveRun, what: string): void {
    if (run.plan.runTimeoutMs === undefined) return;
    this.#begun.set(run.id, run.hash);
    this.#late(process, run, `began ${what} of`, 0);
  }

  #limitOf(process: Process, { id, plan, tie }: LiveRun): Limit | undefined {
    if (tie) return this.#limits.get(id);
    const local = this.#locals.get(id);
    const wasRight = local && isRight(local.offMs) && isRight(this.#offMs(process));
    if (!wasRight) return undefined;
    const timeoutMs = plan.runTimeoutMs!;
    return { endMs: local.beganMs + timeoutMs, timeoutMs };
  }

  #early(process: Process, run: LiveRun): void {
    const limit = this.#limitOf(process, run);
    if (!limit) return;
    const { at, dueAt } = run.state;
    const isInside = this.#begun.get(run.id) === run.hash;
    const where = isInside ? 'in phases' : dueAt === undefined ? 'between phases' : 'in waits';
    this.#world.count(`deadlines ${run.tie ? where : 'of local runs'}`);
    if ((this.#owners.get(run.id) ?? 0) > 1) this.#world.count('deadlines of several owners');
    const leftMs = limit.endMs - this.#world.nowMs;
    if (leftMs <= toleranceMs(limit)) return;
    const how = `${process.name} ended ${run.id} at ${at}`;
    this.#world.violate('deadline', `${how}, and ${leftMs.toFixed(0)} ms were left`);
  }

  #late(process: Process, run: LiveRun, what: string, moreMs: number): void {
    const limit = this.#limitOf(process, run);
    if (!limit) return;
    this.#world.count('judged deadlines');
    const heardMs = this.#holds.get(`${run.id} ${run.tie?.epoch}`)?.heardMs ?? 0;
    const lateMs = this.#world.nowMs - limit.endMs - heardMs - moreMs;
    if (lateMs <= toleranceMs(limit)) return;
    const how = `${process.name} ${what} ${run.id}`;
    this.#world.violate('deadline', `${how} ${lateMs.toFixed(0)} ms after it`);
  }

  /** All is over. */
  ended(task: TaskRecord, healedMs: number): void {
    const { taskId, deadlineAt, finishedAt, outcome, crashes } = task;
    const limit = this.#limits.get(taskId);
    if (!limit || finishedAt === undefined) return;
    this.#stands(taskId, limit, deadlineAt);
    this.#world.count('judged ends by deadline');
    const endedMs = finishedAt - BEGIN_MS;
    if (outcome === 'timedOut' && endedMs < limit.endMs - toleranceMs(limit)) {
      const leftMs = (limit.endMs - endedMs).toFixed(0);
      this.#world.violate('deadline', `${taskId} timed out, and ${leftMs} ms were left`);
    }
    // While all have their hands full it waits for its turn, however late it is.
    const head = crashes >= SUSPECT_CRASHES ? 'suspect' : 'ready';
    const fromMs = Math.max(limit.endMs, healedMs);
    const route = routeOf(task);
    const room = this.#room[head].find(({ ms, routes }) => ms >= fromMs && routes.includes(route));
    const lateMs = endedMs - (room?.ms ?? endedMs);
    if (lateMs <= LATE_MS_MAX) return;
    this.#world.violate('deadline', `${taskId} ended ${lateMs.toFixed(0)} ms after it`);
  }

  /** Nobody but its machine had a word in how long it waited. */
  isSettled(task: string): boolean {
    const isStoreRight = this.#world.storeSetMs === Number.NEGATIVE_INFINITY;
    return isStoreRight && !this.#unsettled.has(task);
  }

  #offMs(process: Process): number {
    return process.clock.now() - Math.floor(BEGIN_MS + this.#world.nowMs);
  }
}

function isRight(offMs: number): boolean {
  return Math.abs(offMs) <= RIGHT_MS;
}

function toleranceMs({ timeoutMs }: Limit): number {
  return CLOCK_OFF_MS + timeoutMs * DRIFT + ROUNDED_MS;
}

/**
 * Turns claimed tasks into runs of the engine: reads the payload, loads what earlier owners have
 * recorded, and hands both over. Idempotent per claim, since an answer that was lost is found again by
 * looking at what the store says this pod holds. A row that makes no sense becomes a dead letter; a task
 * that this pod fails to take goes back.
 */
import { type Engine, isFaultOfRun } from '../engine/index.ts';
import { describeError, FleetqError, isRunId, keyMissingIn, type RunId } from '../ground/index.ts';
import { type EventRow, UnknownRecordError } from '../journal/index.ts';
import type { Registry } from '../machine/index.ts';
import {
  type ClaimedTask,
  ENDED_STATES,
  NotSealedError,
  type Segment,
  type Store,
} from '../store/index.ts';
import { isHeard, tell } from '../telemetry/events.ts';
import { BadTaskError, BrokenHistoryError, ClaimLostError } from './errors.ts';
import { HeldRun } from './held-run.ts';
import { interruptionOf, rowsOf } from './history.ts';
import type { Holdings } from './holdings.ts';
import type { Keeper } from './keeper.ts';
import { inputOf } from './task-input.ts';

export interface AcceptorPorts {
  readonly store: Pick<Store, 'histories' | 'pods'>;
  readonly engine: Engine;
  readonly registry: Registry;
  readonly holdings: Holdings;
  readonly keeper: Keeper;
  readonly pod: string;
  readonly payloadBytesMax: number;
  readonly journal: string;
  /** For rows pinned to this journal: their runs are here already. */
  readonly adoptLocal: (tasks: readonly ClaimedTask[]) => Promise<void>;
}

export interface AcceptOptions {
  readonly isPast?: (task: ClaimedTask) => boolean;
  readonly onRead?: () => void;
}

export class Acceptor {
  readonly #ports: AcceptorPorts;

  constructor(ports: AcceptorPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when each of them is on this disk, or on its way to being failed. `isPast`: it was given out
   * by a server that is no more. What this pod has done under that claim, and was told to be recorded, it
   * may not know any more, and nobody begins twice under one epoch: it is given back, for another one.
   * `onRead` may throw, before anything is begun from what the store has of them.
   */
  async accept(
    tasks: readonly ClaimedTask[],
    { isPast = () => false, onRead }: AcceptOptions = {},
  ): Promise<void> {
    const { holdings, journal, adoptLocal, keeper } = this.#ports;
    const fresh = tasks.filter(({ task, epoch }) => !holdings.has(task, epoch));
    await adoptLocal(fresh.filter(({ pinnedTo }) => pinnedTo === journal));
    const ours = fresh.filter(({ pinnedTo }) => pinnedTo !== journal);
    for (const task of ours.filter(isPast)) this.#giveBack(task);
    const unknown = ours.filter((task) => !isPast(task));
    const [segments, beats] = await Promise.all([
      this.#loadHistories(unknown),
      this.#lastBeats(unknown),
    ]);
    // The answer may have come so late that the next life of this pod has them.
    if (keeper.isDead) return;
    onRead?.();
    await Promise.all(unknown.map((task) => this.#acceptOrFail(task, segments, beats)));
  }

  async #loadHistories(tasks: readonly ClaimedTask[]): Promise<ReadonlyMap<string, Segment[]>> {
    // Of a generation that has begun, its own history counts; before that, the one it carries on.
    const wanted = tasks
      .filter(hasHistory)
      .flatMap(({ task, generation, lastSeq, carriesFrom }) => {
        const own = { task, generation };
        const isNew = lastSeq < 0 && carriesFrom !== undefined;
        return isNew ? [own, { task, generation: carriesFrom }] : [own];
      });
    const found = new Map<string, Segment[]>();
    if (wanted.length === 0) return found;
    for (const segment of await this.#ports.store.histories(wanted)) {
      const place = placeOf(segment.task, segment.generation);
      const segments = found.get(place);
      if (segments) segments.push(segment);
      else found.set(place, [segment]);
    }
    return found;
  }

  /** When whoever died with a task was last heard of; not asked where nobody wants to know. */
  async #lastBeats(tasks: readonly ClaimedTask[]): Promise<LastBeats> {
    const isCut = tasks.some(({ interruption }) => interruption === 'cut');
    if (!isCut || !isHeard('run.left')) return undefined;
    const pods = await this.#ports.store.pods().catch(() => []);
    return new Map(pods.map(({ pod, beatAt }) => [pod, beatAt]));
  }

  async #acceptOrFail(
    task: ClaimedTask,
    segments: ReadonlyMap<string, Segment[]>,
    lastBeats: LastBeats,
  ): Promise<void> {
    const { engine, holdings, keeper } = this.#ports;
    // An older claim of ours on the same task cannot stand any more.
    const before = holdings.get(task.task);
    if (before) {
      tell('claim.lost', () => ({ ...before.claim, run: task.task, what: 'run' }));
      before.isOver = true;
      engine.held.drop(task.task, new ClaimLostError(before.claim));
      holdings.remove(before);
    }
    let rows: EventRow[] = [];
    try {
      const own = segments.get(placeOf(task.task, task.generation)) ?? [];
      rows = rowsOf(task.task, own, task.lastHash);
      const last = rows.at(-1);
      const from = { seq: last?.seq ?? -1, hash: last?.hash ?? '', state: last?.state };
      const held = new HeldRun(task, from, keeper);
      held.read = own;
      holdings.put(held);
      // Asked to stand still before anybody here has begun with it: no phase of it is.
      if (task.control === 'pause' && !(last && hasEnded(last))) return this.#giveBackPaused(held);
      // It was claimed by other code on this host: whoever has its machine goes on with it.
      if (this.#isOfOtherCode(task)) return held.blocked(`no machine ${task.machine} is here`);
      await this.#begin(task, held, rows, segments, lastBeats);
    } catch (error) {
      const held = holdings.get(task.task) ?? new HeldRun(task, leftAt(task), keeper);
      holdings.put(held);
      const missing = keyMissingIn(error);
      if (missing) return held.blocked(missing.message, 'key');
      if (error instanceof FleetqError && error.verdict === 'retry') return held.released();
      if (error instanceof UnknownRecordError) {
        tell('task.blocked', () => ({ run: task.task, reason: error.message }));
        return held.shelved();
      }
      const { name, message, code } = describeError(error);
      if (!isFaultOfTask(error)) {
        tell('run.faulted', () => ({ run: task.task, machine: task.machine, reason: message }));
        return held.rested();
      }
      tell('task.refused', () => ({ run: task.task, machine: task.machine, reason: message }));
      held.fail('aborted', { name, message, ...(code ? { code } : {}) });
    }
  }

  #giveBack(task: ClaimedTask): void {
    const held = new HeldRun(task, leftAt(task), this.#ports.keeper);
    this.#ports.holdings.put(held);
    held.released();
  }

  #giveBackPaused(held: HeldRun): void {
    held.isPausing = true;
    held.released();
  }

  async #begin(
    task: ClaimedTask,
    held: HeldRun,
    rows: readonly EventRow[],
    segments: ReadonlyMap<string, Segment[]>,
    lastBeats: LastBeats,
  ): Promise<void> {
    const { engine, pod } = this.#ports;
    checkId(task);
    const last = rows.at(-1);
    const carried = task.carriesFrom;
    const interruption = interruptionOf(task, rows);
    await engine.held.accept({
      id: task.task,
      machine: task.machine,
      version: task.version,
      tie: held,
      pod,
      input: inputOf(task, this.#ports.payloadBytesMax),
      key: task.key,
      deadlineMs: task.deadlineMs,
      ageMs: task.ageMs,
      rows,
      interruption,
      lastBeats,
      trace: task.traceParent,
      // It was left in order at its last record, and claimed since: whatever that waited for is over.
      isDue: task.lastSeq === (last?.seq ?? -1),
      carried:
        rows.length === 0 && carried !== undefined
          ? rowsOf(task.task, segments.get(placeOf(task.task, carried)) ?? [], undefined)
          : undefined,
    });
    tell('task.claimed', () => ({
      run: task.task,
      machine: task.machine,
      version: task.version,
      epoch: task.epoch,
      records: rows.length,
      waitedMs: task.waitedMs,
    }));
    if (task.control === 'cancel' && !held.isOver) {
      engine.cancel(task.task, 'cancelled by request').catch(() => undefined);
    }
  }

  /** Nothing here could go on with it, so nothing here looks at what it brings. */
  #isOfOtherCode({ task, machine, version }: ClaimedTask): boolean {
    const [newest] = this.#ports.registry.versions(machine);
    return isRunId(task) && (newest === undefined || newest.version < version);
  }
}

const OF_THE_ROW = [BadTaskError, BrokenHistoryError, NotSealedError];

function isFaultOfTask(error: unknown): boolean {
  return OF_THE_ROW.some((kind) => error instanceof kind) || isFaultOfRun(error);
}

type LastBeats = ReadonlyMap<string, number> | undefined;

/** Of the first claim there ever is on a task: by the counter alone, or on the first timeline. */
const FIRST_EPOCHS: readonly number[] = [1, 2 ** 32 + 1];

/** Whoever had it before may have archived something, however it was let go of. */
function hasHistory({ epoch, lastSeq, carriesFrom }: ClaimedTask): boolean {
  return lastSeq >= 0 || carriesFrom !== undefined || !FIRST_EPOCHS.includes(epoch);
}

function hasEnded({ state }: EventRow): boolean {
  return ENDED_STATES.includes(state);
}

function checkId({ task }: ClaimedTask): void {
  if (isRunId(task)) return;
  throw new BadTaskError(`the task's id is ${JSON.stringify(task)}`, {
    hint: 'a task id is a ULID or a UUID in lower case; leave it out to get one',
  });
}

/** Where its records cannot be read, the row goes on to name the one that counts. */
function leftAt({ lastSeq, lastHash }: ClaimedTask) {
  return { seq: lastSeq, hash: lastHash ?? '', state: undefined };
}

function placeOf(task: RunId, generation: number): string {
  return `${task}\n${generation}`;
}

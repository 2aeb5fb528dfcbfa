/**
 * Runs that came from elsewhere and are held here for a while: how they are taken in, how they go on
 * after a restart of this process, and how they are let go of when they are no longer ours.
 */
import { assert, type Clock, type Json, type RunId } from '../ground/index.ts';
import {
  DamagedRunError,
  type EventRow,
  type Evidence,
  type Journal,
  type Opening,
} from '../journal/index.ts';
import {
  type Ending,
  firstStateOf,
  type Interruption,
  isFinal,
  originOf,
  type Plan,
  parseInput,
  type Registry,
  type RunEvent,
  startState,
} from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { foldRun, isAsleep, LiveRun, limitTime, limitWait, ofRun, waitMsOf } from './live-run.ts';
import type { Recorder } from './recorder.ts';
import { load, wasTakenCutOff } from './resume.ts';
import type { RunTable } from './run-table.ts';
import type { Carried, Tie, WrittenRecord } from './tie.ts';
import { inputView } from './view.ts';

/** Without a limit of its own, a run that only ever postpones itself ends after this. */
export const RUN_MS_MAX = 24 * 3_600_000;

/** A run as another owner left it, or one that nobody has begun. */
export interface Offer extends Carried {
  readonly id: RunId;
  readonly plan: Plan;
  readonly tie: Tie;
  /** Who takes it, for people. */
  readonly pod: string;
  /** What earlier owners have recorded; empty where nobody has begun. */
  readonly rows: readonly EventRow[];
  readonly interruption: Interruption | undefined;
  /** Whatever its last record waits for is over. */
  readonly isDue: boolean;
  /** How old it is where nobody has given it a deadline. */
  readonly ageMs?: number | undefined;
  /** The records of an earlier generation whose finished steps count. */
  readonly carried: readonly EventRow[] | undefined;
}

/** A held run of an earlier process of this journal. */
export interface LocalHold {
  readonly run: RunId;
  readonly generation: number;
  readonly epoch: number;
  /** A phase of it was being executed when that process ended. */
  readonly isOpen: boolean;
}

export interface HolderPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly runs: RunTable;
  readonly recorder: Recorder;
  /** The run stands between two phases: its turn, its wait or its end comes next. */
  readonly goOn: (run: LiveRun, waitMs?: number) => Promise<void>;
  readonly countInterruption: (run: LiveRun) => Promise<void>;
  readonly onFailed: (run: LiveRun, error: unknown) => void;
}

export class Holder {
  readonly #ports: HolderPorts;
  readonly #resumed = new Set<RunId>();

  constructor(ports: HolderPorts) {
    this.#ports = ports;
  }

  /** Resolves when what was taken over is durable here; the run then goes on by itself. */
  async accept(offer: Offer): Promise<void> {
    const { runs } = this.#ports;
    // A record of an earlier hold on it may still be on its way to the disk.
    await runs.letGo.get(offer.id);
    if (offer.tie.isOver) return;
    if (offer.rows.length > 0) await this.#takeOver(offer);
    else await this.#begin(offer);
  }

  async #begin(offer: Offer): Promise<void> {
    const { id, plan, tie, pod, input, key, carried } = offer;
    const { clock } = this.#ports;
    const answer = parseInput(clock, plan, input);
    const parsed = answer instanceof Promise ? await answer : answer;
    if (tie.isOver) return;
    const now = clock.now();
    const event: Extract<RunEvent, { type: 'STARTED' }> = {
      type: 'STARTED',
      machine: plan.name,
      version: plan.version,
      fingerprint: plan.fingerprint,
      input,
      key,
      pod,
      generation: tie.generation,
      carried: carried && this.#carriedOf(id, plan, carried),
    };
    const run = new LiveRun(id, plan, key, tie.epoch, startState(plan, event, now), tie);
    limitTime(run, leftMsOf(plan, offer), clock);
    if (parsed.isShareable && !event.carried) run.view = inputView(parsed);
    const { name: machine, version } = plan;
    const { generation } = tie;
    await this.#open(run, event, { machine, version, key, generation });
    tell('run.started', () => ({ ...ofRun(run), key }));
    this.#drive(run, false);
  }

  async #takeOver({ id, plan, tie, pod, rows, ...offer }: Offer): Promise<void> {
    const { journal, clock } = this.#ports;
    const records = journal.decode(id, rows);
    const run = foldRun(plan, id, tie.epoch, records);
    if (typeof run === 'string') throw new DamagedRunError(id, run);
    run.tie = tie;
    limitTime(run, leftMsOf(plan, offer), clock);
    const last = records.at(-1)!;
    const waitMs = waitMsOf(run, records);
    limitWait(run, waitMs, clock);
    const { machine, version } = originOf(records);
    const opens = { machine, version, key: run.key, rows, generation: tie.generation };
    // Its last owner died between the last record and the settlement.
    if (run.state.ending) return tie.ended(run.state.ending);
    const known = wasTakenCutOff(last.event) ? 'cut' : offer.interruption;
    const interruption = isBetween(run, last.event) ? undefined : known;
    await this.#open(run, takenBy(pod, interruption), opens);
    if (offer.isDue) run.waitedSeq = run.seq;
    this.#goOn(run, interruption, waitMs);
  }

  async #open(run: LiveRun, event: RunEvent, opens: Opening): Promise<void> {
    const { journal, runs, recorder } = this.#ports;
    // A copy from an earlier time it was held here; the store has since given it to others.
    if (journal.hasRun(run.id)) journal.endHolds([run.id]);
    runs.live.set(run.id, run);
    try {
      await recorder.open(run, event, opens);
    } catch (error) {
      runs.leave(run);
      throw error;
    }
  }

  /** What an earlier generation had finished, and the step it failed in; nothing where that is gone. */
  #carriedOf(
    id: RunId,
    plan: Plan,
    rows: readonly EventRow[],
  ): { step: string; outputs: Readonly<Record<string, Json>> } | undefined {
    const run = rows.length > 0 ? foldRun(plan, id, 0, this.#ports.journal.decode(id, rows)) : '';
    if (typeof run === 'string') return undefined;
    const from = run.state.ending?.state ?? run.state.at;
    const step = from.slice(0, Math.max(0, from.lastIndexOf('.')));
    if (firstStateOf(plan.chart, step) === undefined) return undefined;
    const outputs = { ...run.state.outputs };
    delete outputs[step];
    return { step, outputs };
  }

  /** Whether all that an earlier process was doing when it ended is known. */
  get knowsAll(): boolean {
    return this.#ports.journal.evidence.isComplete;
  }

  /** What this journal still has of runs that an earlier process held. */
  async localHolds(): Promise<LocalHold[]> {
    const { journal, runs } = this.#ports;
    // Records of runs that were just let go of may still be on their way to the disk.
    await Promise.allSettled(runs.letGo.values());
    const { occupied } = journal.evidence;
    return journal.holds().map(({ run, generation, epoch }) => {
      const isOpen = runs.wasOpen.has(run) || (occupied.has(run) && !this.#resumed.has(run));
      return { run, generation, epoch, isOpen };
    });
  }

  /** Goes on with a run that this journal has, under a new epoch. */
  async resume(
    id: RunId,
    tie: Tie,
    {
      pod,
      interruption: known,
      ...limits
    }: Pick<Offer, 'pod' | 'interruption' | 'deadlineMs' | 'ageMs'>,
  ): Promise<void> {
    const { journal, clock, registry, runs, recorder } = this.#ports;
    await runs.letGo.get(id);
    if (tie.isOver) return;
    const ending = endingHere(journal, id);
    if (ending) return tie.ended(ending);
    const found = load(journal, registry, id, this.#evidenceOf(id));
    assert(found !== undefined, `run ${id} is held and not there`);
    // A newer version goes on only with runs of this host: the store does not know of versions yet.
    if (found.kind === 'succeeds') return tie.released();
    if (found.kind === 'setAside') {
      return found.status === 'blocked' ? tie.released() : tie.quarantined(found.reason);
    }
    const { run, waitMs } = found;
    if (run.state.ending) return tie.ended(run.state.ending);
    // Whether it was inside is known here; whether that counts, from how its last owner ended.
    const wasInside = runs.wasOpen.delete(id) || found.wasInterrupted;
    const inside = known === 'left' && !found.isOwed ? 'left' : 'cut';
    const interruption = wasInside ? inside : undefined;
    run.tie = tie;
    run.epoch = tie.epoch;
    limitTime(run, leftMsOf(run.plan, limits), clock);
    limitWait(run, waitMs, clock);
    runs.live.set(id, run);
    await recorder.record(run, takenBy(pod, interruption));
    this.#goOn(run, interruption, waitMs);
  }

  /** What the process before this one left behind tells of its end, and of nothing that came later. */
  #evidenceOf(id: RunId): Evidence | undefined {
    if (this.#resumed.has(id)) return undefined;
    this.#resumed.add(id);
    return this.#ports.journal.evidence;
  }

  /** The run is no longer ours: its handler is told, and whatever it answers counts for nothing. */
  drop(id: RunId, reason: Error): void {
    const { runs } = this.#ports;
    const run = runs.live.get(id);
    if (!run?.tie) return;
    run.isLost = true;
    if (run.call) runs.wasOpen.add(id);
    run.call?.giveUp({ why: 'lost', reason });
    runs.lose(run, reason);
  }

  /** The store has them, or somebody else: nothing of them is needed here. */
  forget(ids: readonly RunId[]): void {
    const { journal, runs } = this.#ports;
    for (const id of ids) {
      runs.wasOpen.delete(id);
      this.#resumed.delete(id);
    }
    const isGone = (id: RunId) => !runs.live.has(id);
    journal.endHolds(ids.filter((id) => isGone(id) && !runs.letGo.has(id)));
    // What is still on its way to the disk would come after its beginning was removed, and stay.
    for (const id of ids) {
      const lastWord = runs.letGo.get(id);
      lastWord?.catch(() => undefined).then(() => journal.endHolds([id].filter(isGone)));
    }
  }

  /** The run's records, as they were written. */
  written(id: RunId): WrittenRecord[] {
    return this.#ports.journal.rows(id);
  }

  #goOn(run: LiveRun, interruption: Interruption | undefined, waitMs: number | undefined): void {
    const { at, attempt } = run.state;
    const wasInterrupted = interruption === 'cut';
    tell('run.resumed', () => ({ ...ofRun(run), state: at, attempt, wasInterrupted }));
    this.#drive(run, wasInterrupted, waitMs);
  }

  #drive(run: LiveRun, wasInterrupted: boolean, waitMs?: number): void {
    const { goOn, countInterruption, onFailed } = this.#ports;
    const driven = wasInterrupted ? countInterruption(run) : goOn(run, waitMs);
    driven.catch((error) => onFailed(run, error));
  }
}

/** A row that came by a plain INSERT has no deadline: then its machine's limit counts. */
function leftMsOf(plan: Plan, { deadlineMs, ageMs }: Pick<Offer, 'deadlineMs' | 'ageMs'>): number {
  return deadlineMs ?? (plan.runTimeoutMs ?? RUN_MS_MAX) - (ageMs ?? 0);
}

/** Nothing can have been interrupted where the last record waits, or the run is asleep. */
function isBetween(run: LiveRun, last: RunEvent): boolean {
  const { at, dueAt } = run.state;
  return isFinal(at) || isAsleep(run) || dueAt !== undefined || last.type === 'INTERRUPTED';
}

/** Says so in the record itself: should this process die before it counts the interruption. */
function takenBy(pod: string, interruption: Interruption | undefined): RunEvent {
  return interruption ? { type: 'TAKEN', pod, interruption } : { type: 'TAKEN', pod };
}

function endingHere(journal: Journal, id: RunId): Ending | undefined {
  return journal.find(id)?.ending;
}

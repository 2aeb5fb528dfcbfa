/**
 * Runs that came from elsewhere and are held here for a while: how they are taken in, how they go on
 * after a restart of this process, and how they are let go of when they are no longer ours.
 */
import type { Clock, RunId } from '../ground/index.ts';
import { DamagedRunError, type EventRow, type Journal, type Opening } from '../journal/index.ts';
import {
  originOf,
  parseInput,
  type RunEvent,
  type StartedEvent,
  startState,
} from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import {
  type At,
  carriedBy,
  endingHere,
  type GoingOn,
  isStoring,
  succeed,
  type Taken,
} from './going-on.ts';
import { type Beginning, beginningOf, type HeirPorts, heirOf, moveBy } from './heir.ts';
import { ownerOf, tellHeldLeft, tellLeftOf, tellResumed } from './left-behind.ts';
import { isAsleep, LiveRun, limitWait, ofRun, restOf, waitMsOf } from './live-run.ts';
import { localHolds } from './local-holds.ts';
import { isBetween, type LocalHold, limitBy, type Offer, takenBy } from './offer.ts';
import type { Recorder } from './recorder.ts';
import { wasTakenCutOff } from './resume.ts';
import type { RunTable } from './run-table.ts';
import type { Tie } from './tie.ts';
import { inputView } from './view.ts';

export interface HolderPorts extends HeirPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runs: RunTable;
  readonly recorder: Recorder;
  /** The run stands between two phases: its turn, its wait or its end comes next. */
  readonly goOn: (run: LiveRun, waitMs?: number) => Promise<void>;
  /** The run is to be given back at its next boundary. */
  readonly sendAway: (run: LiveRun) => void;
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
    const { registry, journal } = this.#ports;
    const { id, machine, version, input, tie } = offer;
    const carried = offer.carried?.length ? journal.decode(id, offer.carried) : undefined;
    const plan = registry.find(machine, version);
    if (plan) return this.#beginAs(offer, { plan, input, carried: carriedBy(plan, carried) });
    const found = await beginningOf(this.#ports, { machine, version, input, carried });
    if (tie.isOver) return;
    if (typeof found === 'string') return tie.blocked(found);
    tie.standsUnder(found.plan.version);
    return this.#beginAs(offer, found);
  }

  async #beginAs(offer: Offer, { plan, input, carried }: Beginning): Promise<void> {
    const { id, tie, pod, key, trace } = offer;
    const { clock } = this.#ports;
    const answer = parseInput(clock, plan, input);
    const parsed = answer instanceof Promise ? await answer : answer;
    if (tie.isOver) return;
    const now = clock.now();
    const event: StartedEvent = {
      type: 'STARTED',
      machine: plan.name,
      version: plan.version,
      fingerprint: plan.fingerprint,
      input,
      key,
      from: plan.version === offer.version ? undefined : offer.version,
      pod,
      generation: tie.generation,
      trace,
      carried,
    };
    const run = new LiveRun(id, plan, key, tie.epoch, startState(plan, event, now), tie);
    limitBy(run, offer, clock);
    if (parsed.isShareable && !event.carried) run.view = inputView(parsed);
    const { name: machine, version } = plan;
    const { generation } = tie;
    await this.#open(run, event, { machine, version, key, generation });
    if (offer.interruption === 'cut') {
      tell('run.lost', () => ({ ...ofRun(run), generation, epoch: tie.epoch }));
    }
    tell('run.started', () => ({ ...ofRun(run), epoch: run.epoch, key }));
    this.#drive(run, false);
  }

  async #takeOver({ id, tie, pod, rows, ...offer }: Offer): Promise<void> {
    const { journal, clock } = this.#ports;
    const records = journal.decode(id, rows);
    if (offer.interruption === 'cut') tellLeftOf(id, tie.generation, () => records);
    const { machine, version } = originOf(records);
    tie.standsUnder(version);
    const answer = heirOf(this.#ports, id, tie.epoch, records);
    const heir = answer instanceof Promise ? await answer : answer;
    if (tie.isOver) return;
    // Schemas took their time, and whoever drains has looked for what is in hand meanwhile.
    if (answer instanceof Promise && this.#ports.runs.isDraining) return tie.released();
    if (heir.kind === 'unfit') throw new DamagedRunError(id, heir.reason);
    if (heir.kind === 'blocked') return tie.blocked(heir.reason);
    // Its last owner died between the last record and the settlement.
    const ending = heir.kind === 'ended' ? heir.ending : heir.run.state.ending;
    if (heir.kind === 'ended' || ending) return tie.ended(ending!);
    const { run, move } = heir;
    run.tie = tie;
    limitBy(run, offer, clock);
    const last = records.at(-1)!;
    const waitMs = waitMsOf(run, records);
    const restMs = offer.isDue ? restOf(waitMs, run, clock) : waitMs;
    limitWait(run, restMs, clock);
    // Nothing is waited for any more, so whoever had it last may have been inside its phase.
    const isOver = offer.isDue && !isAsleep(run) && (restMs ?? 0) === 0;
    const opens = { machine, version, key: run.key, rows, generation: tie.generation };
    const known = wasTakenCutOff(last.event) ? 'cut' : offer.interruption;
    const interruption = isOver || !isBetween(run, last.event) ? known : undefined;
    await this.#open(run, takenBy(pod, interruption, isOver && restMs === 0), opens);
    if (offer.isDue) run.waitedSeq = run.seq;
    const seenAt = offer.lastBeats?.get(ownerOf(records) ?? '');
    await this.#goOn(run, { interruption, waitMs, move, isDue: offer.isDue, records, seenAt });
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

  /** Whether all that an earlier process was doing when it ended is known. */
  get knowsAll(): boolean {
    return this.#ports.journal.evidence.isComplete;
  }

  /** What this journal still has of runs that an earlier process held: all of them, or these. */
  localHolds(holds = this.#ports.journal.holds()): AsyncIterable<LocalHold[]> {
    return localHolds(this.#ports, holds, this.#resumed);
  }

  /**
   * Goes on with a run that this journal has, under a new epoch. Throws a DamagedRunError where the records
   * here cannot be trusted: those in the store may be whole.
   */
  async resume(
    hold: LocalHold,
    tie: Tie,
    {
      pod,
      interruption: known,
      ...limits
    }: Pick<Offer, 'pod' | 'interruption' | 'deadlineMs' | 'ageMs'>,
  ): Promise<void> {
    const { journal, clock, runs, recorder } = this.#ports;
    const { run: id, found } = hold;
    this.#resumed.add(id);
    if (!found) return tie.ended(endingHere(journal, id));
    if (found.records) tellLeftOf(id, tie.generation, () => found.records!);
    const taken: Taken | undefined =
      found.kind === 'run' ? found : await succeed(this.#ports, found, tie);
    if (!taken || tie.isOver) return;
    const { run, waitMs, move, records } = taken;
    if (run.state.ending) return tie.ended(run.state.ending);
    // Whether it was inside is known here; whether that counts, from how its last owner ended.
    const wasInside = runs.wasOpen.delete(id) || taken.wasInterrupted;
    const inside = known === 'left' && !taken.isOwed ? 'left' : 'cut';
    const interruption = wasInside ? inside : undefined;
    run.tie = tie;
    run.epoch = tie.epoch;
    limitBy(run, limits, clock);
    limitWait(run, waitMs, clock);
    runs.live.set(id, run);
    // An older line may have been where the new one has no state: then the upgrade tells all there is.
    const isUpgraded = move?.event.type === 'UPGRADED';
    if (!isUpgraded) await recorder.record(run, takenBy(pod, interruption));
    await this.#goOn(run, { interruption, waitMs, move, records, seenAt: runs.seenAt });
  }

  /** The run is no longer ours: its handler is told, and whatever it answers counts for nothing. */
  drop(id: RunId, reason: Error): void {
    const { runs } = this.#ports;
    const run = runs.live.get(id);
    if (!run?.tie) return;
    run.isLost = true;
    if (run.call) runs.wasOpen.set(id, run.seq);
    run.call?.giveUp({ why: 'lost', reason });
    runs.lose(run, reason);
  }

  /** Whoever gave it wants it back at the next boundary. False where it is not here, or is on its way. */
  sendAway(id: RunId): boolean {
    const run = this.#ports.runs.live.get(id);
    if (!run?.tie || run.isLeaving || run.isLost) return false;
    this.#ports.sendAway(run);
    return true;
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
      runs.letGo.get(id)?.then(() => journal.endHolds([id].filter(isGone)));
    }
  }

  /** Whether the store may have the run's next record before this disk has it. */
  isStoring = (id: RunId, at: At): boolean => isStoring(this.#ports, id, at);

  /** The store has what this disk has of it: whatever was not told of it can be told now. */
  tellLeft(id: RunId, generation: number): void {
    tellHeldLeft(this.#ports.journal, id, generation);
  }

  /** The run's records as they are on the disk; throws a DamagedRunError where that cannot be read. */
  written = (id: RunId): EventRow[] => this.#ports.journal.rows(id);

  /** Under its new version first, where it has come to one: TAKEN alone binds it to none. */
  async #goOn(run: LiveRun, how: GoingOn): Promise<void> {
    const { interruption, waitMs, move, isDue, records, seenAt } = how;
    const { runs, recorder } = this.#ports;
    // What was recorded first has taken its time, and whoever held the run may be no more.
    if (run.isLost || runs.isClosed) return;
    if (move) {
      await moveBy(recorder, run, move, interruption);
      if (run.isLost || runs.isClosed) return;
      if (isDue) run.waitedSeq = run.seq;
    }
    // An upgraded step begins anew, with its check: whatever was interrupted is of the former line.
    const isUpgraded = move?.event.type === 'UPGRADED';
    const wasInterrupted = interruption === 'cut' && !isUpgraded;
    tellResumed(run, { records, wasInterrupted }, seenAt);
    this.#drive(run, wasInterrupted, isUpgraded ? undefined : waitMs);
  }

  #drive(run: LiveRun, wasInterrupted: boolean, waitMs?: number): void {
    const { goOn, countInterruption, onFailed } = this.#ports;
    const driven = wasInterrupted ? countInterruption(run) : goOn(run, waitMs);
    driven.catch((error) => onFailed(run, error));
  }
}

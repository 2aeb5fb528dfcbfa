/** Begins runs: reads the input, finds the run a key already has, makes the start durable. */
import { isDeepStrictEqual } from 'node:util';
import { type Clock, type Json, type MintRunId, type RunId, settleJson } from '../ground/index.ts';
import { type Journal, JournalStalledError, type RunRow } from '../journal/index.ts';
import { type Parsed, type Plan, parseInput, startState } from '../machine/index.ts';
import { tell } from '../telemetry/events.ts';
import { DrainingError, KeyConflictError, NeedsStoreError, TooManyRunsError } from './errors.ts';
import { LiveRun } from './live-run.ts';
import { tellRecorded } from './recorder.ts';
import type { RunTable } from './run-table.ts';
import { inputView } from './view.ts';

export interface StarterPorts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly runs: RunTable;
  readonly mintRunId: MintRunId;
  readonly resultBytesMax: number;
  readonly activeRunsMax: number;
  readonly isUrgent?: ((machine: string) => boolean) | undefined;
  readonly retentionMs: number;
  /** The run's start is durable: it may be executed. */
  readonly onStarted: (run: LiveRun) => void | Promise<void>;
}

export class Starter {
  readonly #ports: StarterPorts;
  readonly #starting = new Map<string, Promise<RunId>>();

  constructor(ports: StarterPorts) {
    this.#ports = ports;
  }

  async start(
    plan: Plan,
    input: unknown,
    key: string | undefined,
    trace?: string | undefined,
  ): Promise<RunId> {
    this.#refuse(plan);
    refuseStoring(plan);
    const what = `the input of ${plan.name}`;
    const stored = settleJson(input, what, this.#ports.resultBytesMax);
    const answer = parseInput(this.#ports.clock, plan, stored);
    const parsed = answer instanceof Promise ? await answer : answer;
    return key === undefined
      ? await this.#startNew(plan, stored, parsed, key, trace)
      : await this.#startByKey(plan, stored, parsed, key, trace);
  }

  #refuse({ name }: Plan): void {
    const { journal, runs, activeRunsMax, isUrgent } = this.#ports;
    if (runs.isDraining) throw new DrainingError();
    if (journal.stalledBy) throw new JournalStalledError(journal.stalledBy);
    if (runs.live.size >= activeRunsMax && !isUrgent?.(name))
      throw new TooManyRunsError(activeRunsMax);
  }

  async #startByKey(
    plan: Plan,
    input: Json,
    parsed: Parsed,
    key: string,
    trace: string | undefined,
  ): Promise<RunId> {
    const { journal, clock, retentionMs } = this.#ports;
    const place = `${plan.name}\n${key}`;
    // Two starts with one key may come before the first is durable: the second waits for the first.
    while (this.#starting.has(place)) await this.#starting.get(place)?.catch(() => undefined);
    const known = journal.findByKey(plan.name, key, clock.now() - retentionMs);
    if (known) return this.#sameRun(known, input, key);
    const started = this.#startNew(plan, input, parsed, key, trace);
    this.#starting.set(place, started);
    try {
      return await started;
    } finally {
      this.#starting.delete(place);
    }
  }

  #sameRun(known: RunRow, input: Json, key: string): RunId {
    // A retention that was shorter once may have taken the records of a run whose key still counts.
    if (known.finishedAt !== undefined && !this.#ports.journal.hasEvents(known.id)) return known.id;
    const first = this.#ports.journal.history(known.id)[0]?.event;
    const isSame = first?.type === 'STARTED' && isDeepStrictEqual(first.input, input);
    if (!isSame) throw new KeyConflictError(known.machine, key, known.id);
    return known.id;
  }

  async #startNew(
    plan: Plan,
    input: Json,
    parsed: Parsed,
    key: string | undefined,
    trace: string | undefined,
  ): Promise<RunId> {
    // A schema may have taken its time, and many may have come at once: so it is asked again here.
    this.#refuse(plan);
    const { journal, clock, runs, mintRunId, onStarted } = this.#ports;
    const now = clock.now();
    const event = {
      type: 'STARTED',
      machine: plan.name,
      version: plan.version,
      fingerprint: plan.fingerprint,
      input,
      key,
      deadlineAt: plan.runTimeoutMs === undefined ? undefined : now + plan.runTimeoutMs,
      trace,
    } as const;
    const state = startState(plan, event, now);
    const run = new LiveRun(mintRunId(), plan, key, journal.boot, state);
    if (parsed.isShareable) run.view = inputView(parsed);
    runs.live.set(run.id, run);
    run.isAppending = true;
    try {
      const entry = {
        run: run.id,
        seq: 0,
        at: now,
        epoch: run.epoch,
        event,
        state: state.at,
        prevHash: run.hash,
        opens: { machine: plan.name, version: plan.version, key },
        closes: undefined,
        wakeAt: undefined,
      };
      run.hash = (await journal.append(entry)).hash;
      run.seq = 0;
      tellRecorded(run, entry);
    } catch (error) {
      runs.live.delete(run.id);
      throw error;
    }
    run.isAppending = false;
    tell('run.started', () => ({
      run: run.id,
      machine: plan.name,
      version: plan.version,
      epoch: run.epoch,
      key,
    }));
    await onStarted(run);
    return run.id;
  }
}

function refuseStoring({ name, line }: Plan): void {
  const storing = line.find((part) => part.kind === 'step' && part.persistIn === 'store');
  if (storing) throw new NeedsStoreError(name, storing.name);
}

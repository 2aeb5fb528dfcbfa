/**
 * What a handler gets. Most handlers use a few of these things, so those that cost something are
 * made when they are first looked at.
 */
import { type Clock, freezeDeep, hash, type RunId } from '../ground/index.ts';
import type {
  Awaitable,
  Log,
  Phase,
  StepContext,
  StoreTx,
  ThrottleHandle,
  UseOptions,
} from '../machine/index.ts';
import { type OfPhase, tell } from '../telemetry/events.ts';
import {
  classifyError,
  type HeldPermit,
  isCapacity,
  kindOfAbort,
  notePostponement,
  type Postponement,
  postponementOf,
  type Throttles,
} from '../throttle/index.ts';
import { textOf } from './judge.ts';
import type { LiveRun, RunView } from './live-run.ts';
import type { PhaseTx } from './tie.ts';

interface ContextPorts {
  readonly clock: Clock;
  readonly throttles: Throttles;
}

export class PhaseContext implements StepContext<unknown, unknown> {
  readonly input: unknown;
  readonly state: Readonly<Record<string, unknown>>;
  readonly runId: RunId;
  readonly attempt: number;
  readonly fencingToken: number;
  readonly #run: LiveRun;
  readonly #of: OfPhase;
  readonly #ports: ContextPorts;
  #controller: AbortController | undefined;
  #abortedBy: unknown;
  #isAborted = false;
  #held: Set<HeldPermit> | undefined;
  #calls: Set<HeldPermit> | undefined;
  #leaves: Set<() => void> | undefined;
  #noRoom: Postponement | undefined;
  #isOver = false;
  #waiting = 0;
  /** The time of the phase, which stands still while it waits for leave to call. */
  time: { pause(): void; goOn(): void } | undefined = undefined;
  /** A transaction for this phase; only where its step persists in the store. */
  readonly storing: PhaseTx | undefined;

  constructor(
    run: LiveRun,
    view: RunView,
    of: OfPhase,
    ports: ContextPorts,
    storing?: PhaseTx | undefined,
  ) {
    this.storing = storing;
    this.input = view.input;
    this.state = view.state;
    this.runId = run.id;
    this.attempt = run.state.attempt;
    this.fencingToken = run.epoch;
    this.#run = run;
    this.#of = of;
    this.#ports = ports;
  }

  /** Frozen, so that what validate does to it is not seen by persist, as after a restart. */
  get work(): unknown {
    freezeDeep(this.#run.state.work);
    return this.#run.state.work;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#isAborted) this.#controller.abort(this.#abortedBy);
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    if (this.#isAborted) return;
    this.#isAborted = true;
    this.#abortedBy = reason;
    this.#controller?.abort(reason);
  }

  get tx(): StoreTx | undefined {
    return this.storing?.handle;
  }

  /**
   * Before that is judged: it may mean that there was no room. So it does where a permit is in hand of which
   * nobody has said anything, if it is clear which one; and where it was said, unless this says otherwise.
   */
  threw(thrown: unknown): void {
    if (!this.#held || postponementOf(thrown)) return;
    const unsaid = [...this.#held].filter(({ known }) => !known);
    if (unsaid.length === 1) unsaid[0]!.fail(thrown, this.signal);
    if (!this.#noRoom || postponementOf(thrown)) return;
    const { kind } = classifyError(thrown, this.#ports.clock.now());
    if (isCapacity(kind) || kind === 'ignored') notePostponement(thrown, this.#noRoom);
  }

  /** The phase is over: what it has not given back, nobody else would. */
  end(): void {
    this.storing?.abandon();
    this.#isOver = true;
    for (const permit of this.#held ?? []) permit[Symbol.dispose]();
    for (const leave of [...(this.#leaves ?? [])]) leave();
    // A call that was told to stop and did not: what becomes of it nobody will know.
    if (!this.#isAborted) return;
    for (const call of this.#calls ?? []) call.release(kindOfAbort(this.#abortedBy));
  }

  get idempotencyKey(): string {
    return idempotencyKey(
      this.#run.id,
      this.#of.step,
      this.#of.phase === 'probe' ? 'check' : this.#of.phase,
      this.#run.tie?.keyGeneration,
    );
  }

  get use(): StepContext<unknown, unknown>['use'] {
    return <T>(api: string, call: () => Awaitable<T>, options?: UseOptions): Promise<T> =>
      this.#throttleOf(api).use(call, options);
  }

  get throttle(): (api: string) => ThrottleHandle {
    return (api) => this.#throttleOf(api);
  }

  #throttleOf(api: string): ThrottleHandle {
    const { refusals = 0 } = this.#run.state;
    this.#held ??= new Set();
    this.#calls ??= new Set();
    this.#leaves ??= new Set();
    return this.#ports.throttles.of(api, {
      signal: this.signal,
      isRetry: this.attempt > 1 || refusals > 0,
      refusals,
      sinceMs: this.#wantedSince(api),
      route: `${this.#of.machine}@${this.#of.version}`,
      held: this.#held,
      calls: this.#calls,
      leaves: this.#leaves,
      isOver: () => this.#isOver,
      refused: (noRoom) => {
        this.#noRoom = noRoom;
      },
      waits: { begun: () => this.#wait(), over: (ms) => this.#waited(api, ms) },
    });
  }

  /** A clock that was set, or another pod's, may make it older than it is: others lose a turn by that. */
  #wantedSince(api: string): number | undefined {
    const { waitsForApi, wantedAt } = this.#run.state;
    if (wantedAt === undefined || waitsForApi !== api) return undefined;
    const { clock } = this.#ports;
    return clock.monotonicMs() - Math.max(0, clock.now() - wantedAt);
  }

  /** Of several calls at once the first one that waits stops the time, and the last one starts it. */
  #wait(): void {
    if (++this.#waiting === 1) this.time?.pause();
  }

  #waited(api: string, elapsedMs: number): void {
    if (--this.#waiting === 0) this.time?.goOn();
    this.#tellWaited(api, elapsedMs);
  }

  /** How long leave to call took, where it took any time. */
  #tellWaited(api: string, elapsedMs: number): void {
    if (elapsedMs >= 1) tell('throttle.waited', () => ({ ...this.#of, api, elapsedMs }));
  }

  get progress(): (fraction: number, note?: string) => void {
    return (fraction, note) => {
      const { run, machine, version } = this.#of;
      const clamped = Number.isFinite(fraction) ? Math.min(1, Math.max(0, fraction)) : 0;
      const text = note === undefined ? undefined : textOf(note).slice(0, 500);
      this.#run.progress = { fraction: clamped, note: text };
      tell('run.progressed', () => ({ run, machine, version, fraction: clamped, note: text }));
    };
  }

  get log(): Log {
    const say =
      (level: keyof Log) =>
      (message: string, fields?: object): void =>
        tell('log.said', () => ({ ...this.#of, level, message: textOf(message), fields }));
    return { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') };
  }
}

/** Stable over retries, crashes and take-overs: made of nothing that changes with them. */
export function idempotencyKey(run: RunId, step: string, phase: Phase, keyGeneration = 1): string {
  return hash(`${run}\n${keyGeneration}\n${step}\n${phase}`);
}

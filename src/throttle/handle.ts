/** What handlers get of a throttle: its verbs, bound to the phase that uses them. */
import { faultOfOptions, namesOf } from '../config/index.ts';
import { type Clock, hush, show } from '../ground/index.ts';
import type {
  Awaitable,
  CallPermit,
  CallPriority,
  ThrottleHandle,
  ThrottleSnapshot,
  UseOptions,
} from '../machine/index.ts';
import { readAhead, whenRead } from './answers/body.ts';
import { kindOfAbort } from './answers/classify.ts';
import { type CallOutcome, COST_MAX, isCapacity, isWithin } from './answers/outcome.ts';
import { HeldPermit } from './call-permit.ts';
import type { AcquireOptions, Caller } from './caller.ts';
import { PermitAbortedError, ThrottleOptionsError, ThrottleRefusedError } from './errors.ts';
import type { Permit } from './permits/permit-pool.ts';
import { PRIORITIES } from './policy.ts';
import { snapshotOf } from './snapshot.ts';
import type { Throttle } from './throttle.ts';

const USE_NAMES = namesOf<UseOptions>({ priority: true, signal: true, cost: true });

export class BoundThrottle implements ThrottleHandle {
  readonly #find: () => Throttle;
  readonly #caller: Caller;
  readonly #clock: Clock;

  constructor(find: () => Throttle, caller: Caller, clock: Clock) {
    this.#find = find;
    this.#caller = caller;
    this.#clock = clock;
  }

  /** The same one for as long as anything of it is out or waits. */
  get #throttle(): Throttle {
    return this.#find();
  }

  readonly use = <T>(call: () => Awaitable<T>, options?: UseOptions): Promise<T> =>
    this.#handed(this.#use(call, options));

  readonly acquire = (options?: UseOptions): Promise<CallPermit> =>
    this.#handed(this.#permit(options));

  readonly fetch = (
    url: string | URL | Request,
    init?: RequestInit,
    options?: UseOptions,
  ): Promise<Response> => this.#handed(this.#fetch(url, init, options));

  /** Two calls may be begun before the first is awaited: what becomes of the other ends no process. */
  #handed<T>(made: Promise<T>): Promise<T> {
    if (this.#caller.isOver) hush(made);
    return made;
  }

  async #use<T>(call: () => Awaitable<T>, options?: UseOptions): Promise<T> {
    if (typeof call !== 'function') throw this.#wrong('use', 'given a function to call', call);
    const wanted = this.#wanted(options);
    const permit = await this.#acquire(wanted, this.#caller.calls);
    let value: T;
    try {
      value = await call();
    } catch (error) {
      const outcome = permit.fail(error, wanted.signal);
      // Nothing can be noted beside what is no object.
      if (isCapacity(outcome.kind) && Object(error) !== error) throw this.#refused(outcome, error);
      throw error;
    }
    const outcome = this.#throttle.judge.ofAnswer(value);
    permit.end(outcome);
    // Handed on, a refusal would be taken for what was asked for.
    if (isCapacity(outcome.kind)) throw this.#refused(outcome, value);
    return value;
  }

  async #permit(options?: UseOptions): Promise<CallPermit> {
    return this.#acquire(this.#wanted(options));
  }

  readonly tryAcquire = (options?: UseOptions): CallPermit | undefined => {
    const permit = this.#throttle.tryAcquire(this.#wanted(options));
    return permit && this.#held(permit, permit.sentMs);
  };

  async #fetch(
    url: string | URL | Request,
    init?: RequestInit,
    options?: UseOptions,
  ): Promise<Response> {
    // Each is looked at before they are joined: what is no signal is refused in our words.
    const wanted = this.#wanted(options);
    const signal = joined(this.#signalOf({ signal: signalOf(url, init) }), wanted.signal);
    const permit = await this.#acquire({ ...wanted, signal });
    const response = await fetch(url, { ...init, signal: signal ?? null }).catch((error) => {
      permit.fail(error, signal);
      throw error;
    });
    const outcome = this.#throttle.judge.ofAnswer(response);
    if (!isCapacity(outcome.kind)) {
      // By the status alone much is said: a phase may end without a look at the body.
      permit.known = outcome;
      return whenRead(response, this.#clock, {
        over: () => permit.end(outcome),
        broken: (error) => void permit.fail(error, signal),
      });
    }
    permit.end(outcome);
    throw this.#refused(outcome, response);
  }

  readonly snapshot = (): ThrottleSnapshot => snapshotOf(this.#throttle);

  #refused(outcome: CallOutcome, answer: unknown): ThrottleRefusedError {
    const delayMs = this.#throttle.judge.delayMs(outcome, this.#caller.refusals);
    const { name } = this.#throttle.policy;
    return new ThrottleRefusedError(name, readAhead(answer, this.#clock), delayMs);
  }

  /** A phase that is over gives nothing back any more, so it gets nothing. */
  #held(permit: Permit, wantedMs: number, among = this.#caller.held): HeldPermit {
    const held = new HeldPermit(this.#throttle, permit, this.#caller, among, wantedMs);
    if (!this.#caller.isOver?.()) return held;
    held.release('ignored');
    throw new PermitAbortedError(this.#throttle.policy.name, new Error('the phase is over'));
  }

  #wanted(options: UseOptions | undefined): AcquireOptions {
    if (options !== undefined && options !== null) this.#refuseUnknown(options);
    const { signal, isRetry, route, sinceMs, leaves } = this.#caller;
    return {
      route,
      sinceMs,
      leaves,
      isCalling: this.#isCalling,
      priority: this.#priorityOf(options) ?? (isRetry ? 'retry' : 'normal'),
      cost: this.#costOf(options) ?? 1,
      signal: joined(signal, this.#signalOf(options)),
    };
  }

  /** Only asked where something was said: a call without options pays nothing. */
  #refuseUnknown(options: UseOptions): void {
    const fault = faultOfOptions(options, USE_NAMES);
    if (fault !== undefined)
      throw new ThrottleOptionsError(this.#throttle.policy.name, `a call ${fault}`);
  }

  #priorityOf(options: UseOptions | undefined): CallPriority | undefined {
    const priority = options?.priority ?? undefined;
    if (priority === undefined || PRIORITIES.includes(priority)) return priority;
    throw this.#wrong('priority', `one of ${PRIORITIES.join(', ')}`, priority);
  }

  #costOf(options: UseOptions | undefined): number | undefined {
    const cost = options?.cost ?? undefined;
    if (cost === undefined || isWithin(cost, COST_MAX)) return cost;
    throw this.#wrong('cost', `a number from 0 to ${COST_MAX}`, cost);
  }

  #signalOf(options: UseOptions | undefined): AbortSignal | undefined {
    const signal: unknown = options?.signal ?? undefined;
    if (signal === undefined || signal instanceof AbortSignal) return signal;
    throw this.#wrong('signal', 'an AbortSignal', signal);
  }

  #wrong(option: string, wanted: string, got: unknown): ThrottleOptionsError {
    const fault = `${option} must be ${wanted}, got ${show(got)}`;
    return new ThrottleOptionsError(this.#throttle.policy.name, fault);
  }

  readonly #isCalling = (sinceMs: number): boolean => {
    const { held, calls } = this.#caller;
    const isOut = (permit: HeldPermit) => permit.isOf(this.#throttle, sinceMs);
    return [...(calls ?? []), ...(held ?? [])].some(isOut);
  };

  async #acquire(wanted: AcquireOptions, among?: Set<HeldPermit>): Promise<HeldPermit> {
    const wantedMs = this.#throttle.nowMs;
    try {
      const found = this.#throttle.acquire(wanted);
      const permit = found instanceof Promise ? await this.#waited(found, wantedMs) : found;
      return this.#held(permit, wantedMs, among);
    } catch (error) {
      throw this.#isTooLate(error) ? this.#throttle.tooLate(wantedMs) : error;
    }
  }

  #waited(found: Promise<Permit>, wantedMs: number): Promise<Permit> {
    const { waits } = this.#caller;
    if (!waits) return found;
    waits.begun();
    // Also where it was in vain: whoever gives up has waited longest.
    return found.finally(() => waits.over(this.#throttle.nowMs - wantedMs));
  }

  /** A timeout of the author's own, as SDKs have it, counts the wait, too: that costs no attempt. */
  #isTooLate(error: unknown): boolean {
    const { signal, isOver } = this.#caller;
    if (!(error instanceof PermitAbortedError) || signal?.aborted || isOver?.()) return false;
    return kindOfAbort(error.cause) === 'timeout';
  }
}

/** As fetch has it: what is said beside a request replaces what the request says. */
function signalOf(url: string | URL | Request, init: RequestInit | undefined) {
  const said = init?.signal;
  if (said !== undefined) return said ?? undefined;
  return url instanceof Request ? url.signal : undefined;
}

function joined(one: AbortSignal | undefined, other: AbortSignal | undefined) {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

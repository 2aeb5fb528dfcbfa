/** What handlers get of a throttle: its verbs, bound to the phase that uses them. */
import type { UnderlyingSource } from 'node:stream/web';
import type { Clock } from '../ground/index.ts';
import type {
  Awaitable,
  CallPermit,
  ThrottleHandle,
  ThrottleSnapshot,
  UseOptions,
} from '../machine/index.ts';
import { HeldPermit } from './call-permit.ts';
import type { Caller } from './caller.ts';
import { ThrottleRefusedError } from './errors.ts';
import { isCapacity } from './outcome.ts';
import type { Permit } from './permit-pool.ts';
import { snapshotOf } from './snapshot.ts';
import type { AcquireOptions, Throttle } from './throttle.ts';

/** A body that nobody reads holds its permit no longer than this. */
const BODY_MS_MAX = 10 * 60_000;
/** So much of it is read ahead: of a short answer nobody has to read the body. */
const BODY_AHEAD = new ByteLengthQueuingStrategy({ highWaterMark: 64 * 1024 });

export class BoundThrottle implements ThrottleHandle {
  readonly #throttle: Throttle;
  readonly #caller: Caller;
  readonly #clock: Clock;

  constructor(throttle: Throttle, caller: Caller, clock: Clock) {
    this.#throttle = throttle;
    this.#caller = caller;
    this.#clock = clock;
  }

  readonly use = async <T>(call: () => Awaitable<T>, options?: UseOptions): Promise<T> => {
    const wanted = this.#wanted(options);
    const permit = await this.#acquire(wanted);
    let value: T;
    try {
      value = await call();
    } catch (error) {
      const { refusals } = this.#caller;
      this.#throttle.release(permit, this.#throttle.outcomeOfError(error, refusals, wanted.signal));
      throw error;
    }
    this.#throttle.release(permit, this.#throttle.outcomeOfAnswer(value));
    return value;
  };

  readonly acquire = async (options?: UseOptions): Promise<CallPermit> =>
    this.#held(await this.#acquire(this.#wanted(options)));

  readonly tryAcquire = (options?: UseOptions): CallPermit | undefined => {
    const permit = this.#throttle.tryAcquire(this.#wanted(options));
    return permit && this.#held(permit);
  };

  readonly fetch = async (
    url: string | URL,
    init?: RequestInit,
    options?: UseOptions,
  ): Promise<Response> => {
    const given = init?.signal ?? undefined;
    const wanted = this.#wanted(
      given ? { ...options, signal: joined(given, options?.signal) } : options,
    );
    const permit = this.#held(await this.#acquire(wanted));
    const response = await fetch(url, { ...init, signal: wanted.signal ?? null }).catch((error) => {
      permit.fail(error);
      throw error;
    });
    const outcome = this.#throttle.outcomeOfAnswer(response);
    if (!isCapacity(outcome.kind)) return this.#whenRead(response, () => permit.release(outcome));
    permit.release(outcome);
    const delayMs = this.#throttle.delayMs(outcome, this.#caller.refusals);
    throw new ThrottleRefusedError(this.#throttle.policy.name, response, delayMs);
  };

  readonly snapshot = (): ThrottleSnapshot => snapshotOf(this.#throttle);

  /** Headers come long before an answer that is streamed is over: until then the call goes on. */
  #whenRead(response: Response, release: () => void): Response {
    if (!response.body) {
      release();
      return response;
    }
    const cancel = this.#clock.after(BODY_MS_MAX, release, { idle: true });
    const end = () => {
      cancel();
      release();
    };
    const reader = response.body.getReader();
    const source: UnderlyingSource<Uint8Array> = {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    };
    const body = new ReadableStream(source, BODY_AHEAD);
    const { status, statusText, headers, url } = response;
    const whole = new Response(body, { status, statusText, headers });
    return Object.defineProperty(whole, 'url', { value: url });
  }

  #held(permit: Permit): HeldPermit {
    return new HeldPermit(this.#throttle, permit, this.#caller);
  }

  #wanted(options: UseOptions | undefined): AcquireOptions {
    const { signal, isRetry, route } = this.#caller;
    return {
      route,
      priority: options?.priority ?? (isRetry ? 'retry' : 'normal'),
      cost: options?.cost ?? 1,
      signal: joined(signal, options?.signal),
    };
  }

  #acquire(wanted: AcquireOptions): Permit | Promise<Permit> {
    const found = this.#throttle.acquire(wanted);
    const { waited } = this.#caller;
    if (!waited || !(found instanceof Promise)) return found;
    const begunMs = this.#throttle.nowMs;
    // Also where it was in vain: whoever gives up has waited longest.
    return found.finally(() => waited(this.#throttle.nowMs - begunMs));
  }
}

function joined(one: AbortSignal | undefined, other: AbortSignal | undefined) {
  return one && other ? AbortSignal.any([one, other]) : (one ?? other);
}

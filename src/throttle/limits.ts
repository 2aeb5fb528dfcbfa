/** Leave to call an external API: a plain limit of calls at once for each, first come, first served. */
import { FleetqError } from '../ground/index.ts';

export const CONCURRENCY_MAX_DEFAULT = 32;

/** The phase was given up while it waited for leave to call. */
export class PermitAbortedError extends FleetqError {
  readonly code = 'FLEETQ_PERMIT_ABORTED';
  readonly verdict = 'retry';
  constructor(api: string, cause: unknown) {
    super(`gave up waiting for leave to call ${api}`, { cause });
  }
}

export class Limits {
  readonly #concurrencyMax: Readonly<Record<string, number>>;
  readonly #apis = new Map<string, Api>();

  constructor(concurrencyMax: Readonly<Record<string, number>> = {}) {
    this.#concurrencyMax = concurrencyMax;
  }

  /** Calls `call` once there is leave to; the leave is given back however it ends. */
  async use<T>(name: string, call: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    const api = this.#api(name);
    await api.acquire(signal);
    try {
      return await call();
    } finally {
      api.release();
    }
  }

  /** How many wait for leave to call, over all APIs. */
  get waiting(): number {
    let count = 0;
    for (const api of this.#apis.values()) count += api.waiting;
    return count;
  }

  #api(name: string): Api {
    let api = this.#apis.get(name);
    if (!api) {
      // An API may be called 'constructor', which every object seems to have.
      const known = Object.hasOwn(this.#concurrencyMax, name)
        ? this.#concurrencyMax[name]
        : undefined;
      api = new Api(name, known ?? CONCURRENCY_MAX_DEFAULT);
      this.#apis.set(name, api);
    }
    return api;
  }
}

class Api {
  readonly #name: string;
  readonly #concurrencyMax: number;
  readonly #waiting = new Set<() => void>();
  #inFlight = 0;

  constructor(name: string, concurrencyMax: number) {
    this.#name = name;
    this.#concurrencyMax = concurrencyMax;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  async acquire(signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw new PermitAbortedError(this.#name, signal.reason);
    if (this.#inFlight < this.#concurrencyMax) {
      this.#inFlight++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(onTurn);
        reject(new PermitAbortedError(this.#name, signal.reason));
      };
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      this.#waiting.add(onTurn);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Hands the place on to whoever has waited longest, or gives it up. */
  release(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#inFlight--;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

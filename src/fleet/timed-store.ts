/**
 * A store whose calls are told: how long each took, and in a word what went wrong. While nobody
 * listens, a call passes through as it is.
 */
import type { Clock } from '../ground/index.ts';
import type { Store } from '../store/index.ts';
import { isHeard, type StoreFailure, tell } from '../telemetry/events.ts';

const FAILURES: Readonly<Record<string, StoreFailure>> = {
  FLEETQ_STORE_UNREACHABLE: 'unreachable',
  FLEETQ_STORE_BUSY: 'busy',
  FLEETQ_STORE_REFUSED: 'refused',
  FLEETQ_STORE_SCHEMA: 'schema',
  FLEETQ_STORE_OPTIONS: 'options',
};

export function failureOf(thrown: unknown): StoreFailure {
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return (typeof code === 'string' ? FAILURES[code] : undefined) ?? 'other';
}

type Call = (...given: unknown[]) => Promise<unknown>;

/** The same store, made once: whoever compares two of them finds them equal. */
const timed = new WeakMap<Store, Store>();

export function timedStore(store: Store, clock: Clock): Store {
  const known = timed.get(store);
  if (known) return known;
  const calls = new Map<unknown, Call>();
  const made = new Proxy(store, {
    get(target, name) {
      // With the store itself as `this`: its fields are its own.
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function' || typeof name === 'symbol') return value;
      const call = calls.get(value) ?? timedCall(name, value.bind(target) as Call, clock);
      calls.set(value, call);
      return call;
    },
  });
  timed.set(store, made);
  timed.set(made, made);
  return made;
}

function timedCall(call: string, act: Call, clock: Clock): Call {
  const told = (begunMs: number, failure: StoreFailure | undefined) =>
    tell('store.answered', () => ({ call, elapsedMs: clock.monotonicMs() - begunMs, failure }));
  return (...given) => {
    if (!isHeard('store.answered')) return act(...given);
    const begunMs = clock.monotonicMs();
    return act(...given).then(
      (answer) => {
        told(begunMs, undefined);
        return answer;
      },
      (error: unknown) => {
        told(begunMs, failureOf(error));
        throw error;
      },
    );
  };
}

/** Machines whose every call is written down, and whose every phase the test may hold back. */
import type * as z from 'zod';
import type { Around, Machine, StepContext } from '../../src/index.ts';
import { defineMachine, handoff } from '../../src/index.ts';
import { anyInput } from './support.ts';

type Context = Pick<StepContext<unknown, unknown>, 'fencingToken' | 'idempotencyKey' | 'signal'>;

export class Script {
  /** What was called, in order: 'a.work@1' is phase work of step a under epoch 1. */
  readonly calls: string[] = [];
  /** The idempotency keys that a place was called with. */
  readonly keys = new Map<string, Set<string>>();
  /** Places that wait for the test before they answer. */
  readonly holds = new Map<string, Promise<unknown>>();
  /** What is thrown at a place instead of an answer. */
  readonly throws = new Map<string, () => unknown>();
  /** Places whose check finds that the work is there. */
  readonly isThere = new Set<string>();
  readonly signals: AbortSignal[] = [];
  #place = '';

  readonly around: Around = ({ step, phase }, call) => {
    this.#place = `${step}.${phase}`;
    return call();
  };

  async play({ fencingToken, idempotencyKey, signal }: Context): Promise<string> {
    const place = this.#place;
    this.calls.push(`${place}@${fencingToken}`);
    this.signals.push(signal);
    const keys = this.keys.get(place) ?? new Set();
    this.keys.set(place, keys.add(idempotencyKey));
    await this.holds.get(place);
    const thrown = this.throws.get(place);
    if (thrown) throw thrown();
    return place;
  }

  /** How often something was called, under whatever epoch. */
  count(place: string): number {
    return this.calls.filter((call) => call.startsWith(`${place}@`)).length;
  }

  get phases() {
    return {
      check: async (context: Context) => {
        const place = await this.play(context);
        return this.isThere.has(place) ? handoff({ by: place }, 'it is there') : undefined;
      },
      work: async (context: Context) => ({ by: await this.play(context) }),
      validate: async (context: Context) => void (await this.play(context)),
      persist: async (context: Context) => ({ by: await this.play(context) }),
    };
  }
}

const retry = { attemptMax: 5, backoff: () => 100 };

/** Two steps of four phases each. */
export function twoSteps(script: Script, name = 'two') {
  return defineMachine({
    name,
    version: 1,
    input: anyInput,
    retry,
    steps: (line) => line.step('a', script.phases).step('b', script.phases),
  });
}

/** One step, then a wait, then another. */
export function sleeper(script: Script, delay: string, name = 'sleeper') {
  return defineMachine({
    name,
    version: 1,
    input: anyInput,
    retry,
    steps: (line) =>
      line
        .step('a', script.phases)
        .sleep('nap', delay as '1s')
        .step('b', script.phases),
  });
}

/** One work and nothing else. */
export function onlyWork(script: Script, name = 'only'): Machine<object> {
  const { work } = script.phases;
  return defineMachine({ name, version: 1, input: anyInput, retry, check: 'none', work });
}

interface Shape {
  readonly version?: number;
  readonly steps?: readonly string[];
  readonly input?: z.ZodType;
  readonly upgrade?: unknown;
}

/** Another version of the machine of two steps: by default with a third one behind them. */
export function newer(script: Script, shape: Shape = {}): Machine {
  const { version = 2, steps = ['a', 'b', 'c'], input = anyInput, upgrade } = shape;
  return defineMachine({
    name: 'two',
    version,
    input,
    upgrade: upgrade as undefined,
    retry: { attemptMax: 5, backoff: () => 100 },
    steps: (empty) => {
      let line = empty;
      for (const step of steps) line = line.step(step as 'a', script.phases) as never;
      return line;
    },
  }) as never;
}

/** What was called, without the epochs. */
export function placesOf({ calls }: Script): string[] {
  return calls.map((call) => call.split('@')[0]!);
}

/** Delays, verdicts and words that are not what they seem. Each has one defined outcome. */
import { expect, test } from 'vitest';
import { defineMachine, FleetqError } from '../../src/index.ts';
import { anyInput, kinds, useFleets } from '../support/fleets.ts';

const { open, hear } = useFleets();
const head = { version: 1, input: anyInput, check: 'none' } as const;
const VERDICT = Symbol.for('fleetq.verdict');

const wordless = {
  toString: () => {
    throw new Error('no words');
  },
};
const unreadable = (verdict: string) =>
  new Proxy(
    {},
    {
      get: (_, property) => {
        if (property === VERDICT) return verdict;
        throw new Error('not for you');
      },
    },
  );

/** Executes one attempt that throws `thrown`, and tells what came of it. */
async function outcomeOf(thrown: unknown) {
  const quarantined = hear('run.quarantined');
  const machine = defineMachine({
    ...head,
    name: 'forging',
    work: (): string => {
      throw thrown;
    },
  });
  const { fleet, clock } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  await clock.settle();
  expect(quarantined).toEqual([]);
  return { ...fleet.describe(run.id), kinds: kinds(fleet, run.id) };
}

test.each([
  ['whose reason has no words', { [VERDICT]: 'abort', reason: wordless }],
  ['that cannot be read', unreadable('abort')],
])('an abort %s ends the run', async (_what, thrown) => {
  expect(await outcomeOf(thrown)).toMatchObject({
    outcome: 'aborted',
    kinds: ['STARTED', 'ABORTED'],
  });
});

test.each([Number.NaN, 'soon', -1, Number.POSITIVE_INFINITY, undefined])(
  'a retryAfter with the delay %s ends the run, and says why',
  async (delayMs) => {
    expect(await outcomeOf({ [VERDICT]: 'retryAfter', reason: 'busy', delayMs })).toMatchObject({
      outcome: 'aborted',
      reason: 'retryAfter gave no usable delay',
    });
  },
);

test('a retryAfter whose reason has no words waits for its delay', async () => {
  const postponed = { [VERDICT]: 'retryAfter', reason: wordless, delayMs: 1_000 };
  expect(await outcomeOf(postponed)).toMatchObject({
    status: 'waiting',
    kinds: ['STARTED', 'POSTPONED'],
  });
});

test('the reason of an error that no attempt would change is cut', async () => {
  class Endless extends FleetqError {
    readonly code = 'FLEETQ_ENDLESS';
    readonly verdict = 'abort';
  }
  const { outcome, reason } = await outcomeOf(new Endless('x'.repeat(1_000_000)));
  expect([outcome, reason?.length]).toEqual(['aborted', 4_096]);
});

test('a length of a sleep that is a promise ends the run, also when that rejects', async () => {
  const machine = defineMachine({
    version: 1,
    input: anyInput,
    name: 'promising',
    steps: (line) =>
      line
        .sleep('nap', (() => Promise.reject(new Error('unheard'))) as never)
        .step('day', { check: 'none', work: () => 1 }),
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  const unheard: unknown[] = [];
  await expect(noting(unheard, () => run.result())).rejects.toMatchObject({ state: 'nap.sleep' });
  expect(unheard).toEqual([]);
});

test('a backoff that is a promise ends the run, also when that rejects', async () => {
  const machine = defineMachine({
    ...head,
    name: 'backing-off',
    retry: { attemptMax: 3, backoff: (() => Promise.reject(new Error('unheard'))) as never },
    work: (): string => {
      throw new Error('no');
    },
  });
  const { fleet } = await open({ machines: [machine] });
  const run = await fleet.startLocal(machine, {});
  const unheard: unknown[] = [];
  await expect(noting(unheard, () => run.result())).rejects.toMatchObject({
    outcome: 'aborted',
    reason: 'retry.backoff gave no usable delay',
  });
  expect(unheard).toEqual([]);
});

/** Notes rejections that nobody hears, which would end a process, until a turn after `act`. */
async function noting<T>(unheard: unknown[], act: () => Promise<T>): Promise<T> {
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => unheard.push(reason));
  try {
    return await act();
  } finally {
    await new Promise((resolve) => setImmediate(resolve));
    process.removeAllListeners('unhandledRejection');
    for (const other of others) process.on('unhandledRejection', other);
  }
}

test.each(['heard', 'unheard'])(
  'whatever is said or noted is said, and fails nothing, when it is %s',
  async (how) => {
    const said = how === 'heard' ? hear('log.said') : [];
    const odd = [Object.create(null), wordless, Symbol('s'), undefined, 1n];
    const machine = defineMachine({
      ...head,
      name: 'talking',
      retry: { attemptMax: 1 },
      work: ({ log, progress }) => {
        for (const message of odd) {
          log.info(message as never, message as never);
          progress(message as never, message as never);
        }
        return 'said';
      },
    });
    const { fleet } = await open({ machines: [machine] });
    expect(await (await fleet.startLocal(machine, {})).result()).toBe('said');
    expect(said).toHaveLength(how === 'heard' ? odd.length : 0);
  },
);

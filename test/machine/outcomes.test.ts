/** What a phase may say besides returning or throwing, and how it is recognised. */
import { describe, expect, test } from 'vitest';
import { judgeAnswer } from '../../src/engine/judge.ts';
import {
  Aborted,
  abort,
  handoff,
  isAborted,
  isHandoff,
  isPostponed,
  Postponed,
  proceed,
  retryAfter,
} from '../../src/machine/index.ts';

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('nothing was thrown');
}

test('a handoff carries its output and its reason', () => {
  expect(handoff({ url: 'x' }, 'there')).toMatchObject({ output: { url: 'x' }, reason: 'there' });
  expect(isHandoff(handoff(undefined))).toBe(true);
  expect(proceed).toBeUndefined();
});

test('what merely looks like a handoff is none', () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap');
      },
    },
  );
  for (const value of [undefined, null, 1, 'handoff', { kind: 'handoff', output: 1 }, hostile]) {
    expect(isHandoff(value)).toBe(false);
  }
});

test('only check hands off: from work or persist a handoff is refused, not journaled as data', () => {
  for (const phase of ['work', 'persist'] as const) {
    const judge = () => judgeAnswer(phase, `main.${phase}`, handoff(1), 1_000);
    expect(judge).toThrow(`main.${phase} returned a handoff; only check hands off`);
  }
  expect(judgeAnswer('check', 'main.check', handoff(1), 1_000)).toMatchObject({ output: 1 });
});

test('an abort is of the system unless it is said to be of the user', () => {
  expect(thrownBy(() => abort('gone'))).toMatchObject({
    reason: 'gone',
    kind: 'system',
    verdict: 'abort',
  });
  expect(thrownBy(() => abort('bad', { kind: 'user' }))).toMatchObject({
    reason: 'bad',
    kind: 'user',
  });
  expect(thrownBy(() => abort('gone'))).toBeInstanceOf(Aborted);
});

test('a postponement knows its delay, and a bad one is refused', () => {
  expect(thrownBy(() => retryAfter('30s', 'busy'))).toMatchObject({
    delayMs: 30_000,
    reason: 'busy',
    verdict: 'retry',
  });
  expect(thrownBy(() => retryAfter(0, 'busy'))).toBeInstanceOf(Postponed);
  for (const delay of ['soon', -1, Number.NaN, undefined]) {
    expect(() => retryAfter(delay as never, 'busy')).toThrow(/retryAfter wants a duration/);
  }
});

describe('two copies of FleetQ in one process', () => {
  test('recognise what the other one says', () => {
    const verdict = Symbol.for('fleetq.verdict');
    expect(isHandoff({ kind: 'handoff', output: 1, [verdict]: 'handoff' })).toBe(true);
    expect(isAborted(Object.assign(new Error('x'), { [verdict]: 'abort' }))).toBe(true);
    expect(isPostponed(Object.assign(new Error('x'), { [verdict]: 'retryAfter' }))).toBe(true);
    expect(isAborted(thrownBy(() => retryAfter(1, 'x')))).toBe(false);
    expect(isPostponed(thrownBy(() => abort('x')))).toBe(false);
  });
});

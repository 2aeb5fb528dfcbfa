/** A bad definition is refused when it is defined: attempts, backoff, durations. */
import { expect, test } from 'vitest';
import { exponential } from '../../src/ground/index.ts';
import { good, ofLine, refused, step } from './refused.ts';

refused('a number of attempts', [
  ...[0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY].map((attemptMax) => ({
    what: `is refused: ${attemptMax}`,
    definition: { ...good, retry: { attemptMax } },
    path: 'retry.attemptMax',
    wanted: 'a whole number of at least 1',
    got: String(attemptMax),
  })),
  {
    what: 'is no text',
    definition: { ...good, retry: { attemptMax: '3' } },
    path: 'retry.attemptMax',
    wanted: 'a whole number of at least 1',
    got: '"3"',
  },
  {
    what: 'of one phase is looked at too',
    definition: { ...good, retry: { persist: { attemptMax: 0 } } },
    path: 'retry.persist.attemptMax',
    wanted: 'a whole number of at least 1',
    got: '0',
  },
  {
    what: 'of a machine is looked at even where its steps have better ones',
    definition: {
      ...ofLine((line) => line.step('a', { ...step, retry: { attemptMax: 2 } })),
      retry: { attemptMax: 0 },
    },
    path: 'retry.attemptMax',
    wanted: 'a whole number of at least 1',
    got: '0',
  },
  {
    what: 'of a step is told with its path',
    definition: ofLine((line) => line.step('a', { ...step, retry: { work: { attemptMax: -1 } } })),
    path: 'steps.a.retry.work.attemptMax',
    wanted: 'a whole number of at least 1',
    got: '-1',
  },
  {
    what: 'comes in an object',
    definition: { ...good, retry: 3 },
    path: 'retry',
    wanted: 'an object',
    got: '3',
  },
  {
    what: 'of a phase comes in an object',
    definition: { ...good, retry: { work: [3] } },
    path: 'retry.work',
    wanted: 'an object',
    got: '[3]',
  },
]);

refused('a backoff', [
  {
    what: 'is a function',
    definition: { ...good, retry: { backoff: '1s' } },
    path: 'retry.backoff',
    wanted: 'a function such as exponential',
    got: '"1s"',
  },
]);

refused('a duration', [
  ...['', '2 minutes', '5', 'm', '-5s', '1e3ms', '.5s', '5S', ' 5s', '5s ', '99999d'].map(
    (text) => ({
      what: `is refused: '${text}'`,
      definition: { ...good, timeout: { work: text } },
      path: 'timeout.work',
      wanted: 'a duration: milliseconds as a number, or text such as',
      got: `"${text}"`,
    }),
  ),
  ...[-1, Number.NaN, Number.POSITIVE_INFINITY, 1e15, null, true].map((value) => ({
    what: `is refused: ${value}`,
    definition: { ...good, timeout: { run: value } },
    path: 'timeout.run',
    wanted: 'a duration',
    got: String(value),
  })),
  ...[0, '0s'].map((none) => ({
    what: `of nothing is no time limit: ${none}`,
    definition: { ...good, timeout: { work: none } },
    path: 'timeout.work',
    wanted: 'more than none',
    got: JSON.stringify(none),
  })),
  {
    what: 'of a step is told with its path',
    definition: ofLine((line) => line.step('a', { ...step, timeout: { persist: 'soon' } })),
    path: 'steps.a.timeout.persist',
    wanted: 'a duration',
    got: '"soon"',
  },
  {
    what: 'of a sleep is told with its path',
    definition: ofLine((line) => line.step('a', step).sleep('rest', 'soon')),
    path: 'steps.rest',
    wanted: 'or a function that gives one',
    got: '"soon"',
  },
  {
    what: 'of a sleep is not left out',
    definition: ofLine((line) => line.step('a', step).sleep('rest')),
    path: 'steps.rest',
    wanted: 'or a function that gives one',
    got: 'undefined',
  },
]);

test('exponential refuses what is no duration where it is called', () => {
  expect(() => exponential('2 minutes' as never)).toThrow(
    /first must be a duration.*got "2 minutes"/,
  );
  expect(() => exponential('1s', { max: 1n as never })).toThrow(/max must be a duration.*got 1n/);
});

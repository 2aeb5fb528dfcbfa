/** A bad definition is refused when it is defined: unknown, misspelt and unreadable properties. */
import { expect, test } from 'vitest';
import { define, good, ofLine, refusal, refused, step, work } from './refused.ts';

refused('a property', [
  {
    what: 'that is misspelt is refused, with a better word',
    definition: { ...good, vaildate: () => {} },
    path: 'vaildate',
    wanted:
      'left out: only name, version, input, retry, timeout, autonomous, flush, steps, upgrade, check, work',
    got: 'function vaildate',
    hint: "did you mean 'validate'?",
  },
  {
    what: 'one letter short gets a better word',
    definition: { ...good, wrk: 1 },
    path: 'wrk',
    wanted: 'left out',
    got: '1',
    hint: "did you mean 'work'?",
  },
  {
    what: 'in the wrong case gets a better word',
    definition: { ...good, persistin: 'journal' },
    path: 'persistin',
    wanted: 'left out',
    got: '"journal"',
    hint: "did you mean 'persistIn'?",
  },
  {
    what: 'like no other gets none',
    definition: { ...good, onError: 1 },
    path: 'onError',
    wanted: 'left out',
    got: '1',
  },
  {
    what: 'of retry is looked at',
    definition: { ...good, retry: { attemptsMax: 3 } },
    path: 'retry.attemptsMax',
    wanted: 'left out: only attemptMax, backoff, check, work, validate, persist',
    got: '3',
    hint: "did you mean 'attemptMax'?",
  },
  {
    what: 'of a retry of one phase is looked at',
    definition: { ...good, retry: { work: { max: 3 } } },
    path: 'retry.work.max',
    wanted: 'left out: only attemptMax, backoff are',
    got: '3',
  },
  {
    what: 'of timeout has the name of a phase',
    definition: { ...good, timeout: { wrok: '1s' } },
    path: 'timeout.wrok',
    wanted: 'left out: only check, work, validate, persist, run',
    got: '"1s"',
    hint: "did you mean 'work'?",
  },
  {
    what: 'run is no time limit of a step',
    definition: ofLine((line) => line.step('a', { ...step, timeout: { run: '1h' } })),
    path: 'steps.a.timeout.run',
    wanted: 'left out: only check, work, validate, persist are',
    got: '"1h"',
  },
  {
    what: 'of a step is looked at',
    definition: ofLine((line) => line.step('a', { ...step, chekc: work })),
    path: 'steps.a.chekc',
    wanted: 'left out',
    got: 'function work',
    hint: "did you mean 'check'?",
  },
  {
    what: 'work does not stand beside steps',
    definition: { ...ofLine((line) => line.step('a', step)), work },
    path: 'work',
    wanted:
      'left out: only name, version, input, retry, timeout, autonomous, flush, steps, upgrade are known here',
    got: 'function work',
  },
  {
    what: 'whose getter throws is refused',
    definition: {
      ...good,
      get retry() {
        throw new Error('boo');
      },
    },
    path: 'retry',
    wanted: 'readable',
    got: 'a property that throws',
  },
  {
    what: 'of a step whose getter throws is refused',
    definition: ofLine((line) =>
      line.step('a', {
        ...step,
        get persist() {
          throw new Error('boo');
        },
      }),
    ),
    path: 'steps.a.persist',
    wanted: 'readable',
    got: 'a property that throws',
  },
  {
    what: 'to persist in the store takes something that persists',
    definition: { ...good, persist: undefined, persistIn: 'store' },
    path: 'persist',
    wanted: "a function, since persistIn is 'store'",
    got: 'undefined',
  },
  {
    what: 'persistIn knows no other place',
    definition: { ...good, persistIn: 'memory' },
    path: 'persistIn',
    wanted: "'store' or 'journal' (the default)",
    got: '"memory"',
  },
]);

test('what a getter threw is kept as the cause', () => {
  const cause = new Error('boo');
  expect(
    refusal({
      ...good,
      get timeout() {
        throw cause;
      },
    }).cause,
  ).toBe(cause);
});

test('a property that is undefined counts as left out, as the types have it', () => {
  const definition = {
    ...good,
    steps: undefined,
    validate: undefined,
    retry: undefined,
    upgrade: undefined,
  };
  expect(define(definition)).toMatchObject({ name: 'm' });
  expect(define({ ...ofLine((line) => line.step('a', step)), check: undefined })).toMatchObject({
    name: 'm',
  });
});

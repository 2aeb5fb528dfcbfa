/** Bugs in how runs wait for an API, and in what they declare of it together. */
import { type Mutant, tests } from './mutant.ts';

const waits = tests('test/engine/throttle-waits.test.ts');

export const THROTTLE_WAITS: readonly Mutant[] = [
  {
    name: 'calls-of-one-phase-parked',
    breaks: 'a phase with many calls is parked while some are out, and never comes to an end',
    changes: [
      {
        file: 'src/throttle/call-permit.ts',
        find: 'return this.#throttle === throttle && this.#permit.sentMs >= sinceMs;',
        put: 'return this.#throttle === throttle && this.#permit.sentMs > sinceMs + 1e12;',
      },
    ],
    command: waits,
    shows: /many calls of one phase wait for each other/,
  },
  {
    name: 'waiters-outlive-their-phase',
    breaks: 'calls of a phase that has ended stay in line, and take what others wait for',
    changes: [
      {
        file: 'src/engine/phase-context.ts',
        find: 'for (const leave of [...(this.#leaves ?? [])]) leave();',
        put: 'for (const leave of [...(this.#leaves ?? [])].slice(1)) leave();',
      },
    ],
    command: waits,
    shows: /a phase that has ended leaves the line/,
  },
  {
    name: 'timeout-in-line-costs-an-attempt',
    breaks: "a timeout of the author's own that is over in line fails the run",
    changes: [
      {
        file: 'src/throttle/handle.ts',
        find: "return kindOfAbort(error.cause) === 'timeout';",
        put: "return kindOfAbort(error.cause) === 'ignored';",
      },
    ],
    command: waits,
    shows: /costs no attempt, and says nothing of the API/,
  },
  {
    name: 'rates-of-each-pod',
    breaks: 'where pods declare different rates, each goes by its own',
    changes: [
      {
        file: 'src/throttle/throttle.ts',
        find: 'this.pool.boundRates(published, nowMs);',
        put: 'this.pool.boundRates({}, nowMs);',
      },
    ],
    command: tests('test/throttle/declared-rates.test.ts', 'the least holds'),
    shows: /the least holds for all of them/,
  },
  {
    name: 'silent-calls-keep-a-breaker-open',
    breaks: 'calls of which nothing is said open a breaker, and never close it',
    changes: [
      {
        file: 'src/throttle/answers/outcome.ts',
        find: "return isAnswer(kind) || kind === 'ignored';",
        put: 'return isAnswer(kind);',
      },
    ],
    command: tests('test/throttle/breaker.test.ts'),
    shows: /calls of which nothing is said/,
  },
];

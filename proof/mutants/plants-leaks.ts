/** Bugs by which a process keeps what it must let go of, or passes on what is secret. */
import { type Mutant, tests, testsOfBuilt } from './mutant.ts';

export const LEAKS: readonly Mutant[] = [
  {
    name: 'failed-suspect-process-kept',
    breaks: 'a process for suspects that cannot be started is waited for, for ever (I29, I46)',
    changes: [
      {
        file: 'src/fleet/suspects.ts',
        find: "      .catch((error) => tell('suspects.failed', () => ({ error: describeError(error) })))\n",
        put: '',
      },
    ],
    command: tests('test/fleet/suspects.test.ts'),
    shows: /a process for suspects that cannot be started is started again/,
  },
  {
    name: 'secrets-in-the-environment',
    breaks: 'every program that a handler starts inherits the keys and the address of the store',
    changes: [
      {
        file: 'src/suspect-process.ts',
        find: '      child = startChild();',
        put: '      process.env.FLEETQ_ORDERS = JSON.stringify(orders);\n      child = startChild();',
      },
    ],
    command: testsOfBuilt('test/fleet/suspect-secrets.e2e.test.ts'),
    shows: /neither the keys nor the address of the store are in an environment/,
    isSlow: true,
  },
  {
    name: 'ended-runs-kept-without-bound',
    breaks: 'every local run that ends while the store is away stays in memory (I35)',
    changes: [
      {
        file: 'src/fleet/mirror.ts',
        find: 'if (picture.ending && this.#unseen.size > UNSEEN_COUNT_MAX) {',
        put: 'if (picture.ending && this.#unseen.size < 0) {',
      },
    ],
    command: tests('test/fleet/mirror-bound.test.ts', '^I35'),
    shows: /I35: of runs that end without the store only so many are kept in memory/,
  },
  {
    name: 'ended-runs-not-read-again',
    breaks: 'local runs that were not kept in memory never come to the store',
    changes: [
      {
        file: 'src/fleet/mirror.ts',
        find: '      this.#unshown.forget(picture.of.id);\n',
        put: '',
      },
    ],
    command: tests('test/fleet/mirror-bound.test.ts', '^all runs'),
    shows: /all runs that ended without the store are in it afterwards/,
  },
  {
    name: 'set-aside-runs-kept-without-bound',
    breaks: 'every blocked run of this host stays in memory (I35)',
    changes: [
      {
        file: 'src/engine/asides.ts',
        find: 'if (kept.size <= ASIDE_COUNT_MAX) return;',
        put: 'if (kept.size >= 0) return;',
      },
    ],
    command: tests('test/engine/asides.test.ts'),
    shows: /I35: of runs that stand still only so many are kept in memory/,
  },
];

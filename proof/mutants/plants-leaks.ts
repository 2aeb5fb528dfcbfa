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
];

/**
 * Test files are sorted by what they need, and say it by their suffix:
 *
 *   *.test.ts         nothing: in process, on all cores, many files in one process (leak-check proves it)
 *   *.store.test.ts   a real Postgres: one server for the whole run, a database for each file
 *   *.e2e.test.ts     real processes
 *   *.ui.test.ts      a real browser: one for the whole run
 *   *.proof.test.ts   a tool of proof/ at its smallest size
 *
 * `npm test` runs the first two and SMOKE; `npm run test:all` runs everything.
 */
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { FailuresReporter } from './test/support/failures-reporter.ts';
import { TallyReporter } from './test/support/tally-reporter.ts';

/** Files that replace a module, the time zone or the listeners of rejections for their whole process. */
const ISOLATED = [
  'test/engine/forged.test.ts',
  'test/journal/former-build.test.ts',
  'test/machine/schema.test.ts',
  'test/throttle/classify.test.ts',
  'test/throttle/hostile.test.ts',
];

/** One file for each surface that a person meets. */
const SMOKE = [
  'test/cli/smoke.e2e.test.ts',
  'test/docs/readme.e2e.test.ts',
  'test/ui/runs.ui.test.ts',
];

const root = fileURLToPath(new URL('./', import.meta.url));
const ROOMS = '{test,proof}/**/*';
/** Real processes and pages are what users run: the built files. */
const BUILT = ['test/support/build-once.ts'];
const BROWSER = [...BUILT, 'test/support/one-browser.ts'];
const NEEDS = ['store', 'e2e', 'ui', 'proof'] as const;

const project = (name: string, more: object) => ({
  resolve: { alias: { fleetq: `${root}src/index.ts` } },
  test: {
    name,
    maxWorkers: availableParallelism(),
    // Limits against what hangs, and no measures: a host five times slower must pass.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000 } },
    ...more,
  },
});

export default defineConfig({
  test: {
    reporters: [new FailuresReporter(), 'default', new TallyReporter()],
    projects: [
      project('unit', {
        include: [`${ROOMS}.test.ts`],
        exclude: [...NEEDS.map((need) => `${ROOMS}.${need}.test.ts`), ...ISOLATED],
        isolate: false,
        setupFiles: ['test/support/leak-check.ts'],
      }),
      project('isolated', { include: ISOLATED }),
      project('store', {
        include: [`${ROOMS}.store.test.ts`],
        globalSetup: ['test/support/shared-postgres.ts'],
      }),
      project('smoke', { include: SMOKE, globalSetup: BROWSER }),
      project('e2e', { include: [`${ROOMS}.e2e.test.ts`], globalSetup: BUILT }),
      project('ui', { include: [`${ROOMS}.ui.test.ts`], globalSetup: BROWSER, isolate: false }),
      project('proof', { include: [`${ROOMS}.proof.test.ts`], globalSetup: BUILT }),
    ],
  },
});

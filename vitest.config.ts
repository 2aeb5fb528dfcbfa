import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { FailuresReporter } from './test/support/failures-reporter.ts';
import { TallyReporter } from './test/support/tally-reporter.ts';

/**
 * Rooms whose tests start no processes of their own: two of their files at a time. The others kill, stop
 * and time real processes, and have the machine to themselves, which keeps them honest.
 */
const PAIRED = new Set([
  ...[
    'emulator',
    'engine',
    'fleet',
    'ground',
    'history',
    'journal',
    'machine',
    'properties',
    'query',
    'results',
    'schedule',
    'store',
  ],
  ...['throttle', 'types', 'tidy.test.ts'],
]);

/** Of those: what starts and kills processes all the same, or looks at how long something takes. */
const ALONE = new Set([
  'engine/poison.test.ts',
  'fleet/capacity.test.ts',
  'fleet/copied-journal.test.ts',
  'fleet/crash-points/crash-points.test.ts',
  'fleet/forced-leaders.test.ts',
  'fleet/heart-lock.test.ts',
  'fleet/live-pods.test.ts',
  'fleet/local-runs.test.ts',
  'fleet/persist-in-store.test.ts',
  'fleet/suspects.test.ts',
  'fleet/thread-heart.test.ts',
  'journal/failing-disk.test.ts',
  'journal/fsync-before-ack.test.ts',
  'journal/held.test.ts',
  'journal/hold.test.ts',
  'journal/kill.test.ts',
  'journal/place.test.ts',
  'store/postgres-acts.test.ts',
  'store/postgres-deadlines.test.ts',
  'store/postgres-fences.test.ts',
  'store/postgres-plans.test.ts',
  'store/postgres-reader.test.ts',
  'store/sqlite-plans.test.ts',
  'store/sqlite-processes.test.ts',
]);

const root = fileURLToPath(new URL('./', import.meta.url));
const files = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.test.ts'));

for (const file of ALONE) {
  if (!files.includes(file)) throw new Error(`ALONE names test/${file}, which is not there`);
}

const needsBrowser = (file: string) => file.endsWith('.ui.test.ts');
const isPaired = (file: string) => PAIRED.has(file.split('/')[0] ?? '') && !ALONE.has(file);

const project = (name: string, maxWorkers: number, chosen: readonly string[]) => ({
  resolve: { alias: { fleetq: `${root}src/index.ts` } },
  test: {
    name,
    include: chosen.map((file) => `test/${file}`),
    maxWorkers,
    // Limits against what hangs, and no measures: a host five times slower must pass.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 90_000 } },
  },
});

/** One browser for the run, and each worker evaluates the sources once. */
const browserProject = (chosen: readonly string[]) => {
  const ui = project('ui', 2, chosen);
  const globalSetup = ['test/support/one-browser.ts'];
  return { ...ui, test: { ...ui.test, globalSetup, isolate: false } };
};

export default defineConfig({
  test: {
    globalSetup: ['test/support/build-once.ts'],
    reporters: [new FailuresReporter(), 'default', new TallyReporter()],
    projects: [
      project('paired', 2, files.filter(isPaired)),
      project(
        'alone',
        1,
        files.filter((file) => !isPaired(file) && !needsBrowser(file)),
      ),
      browserProject(files.filter(needsBrowser)),
    ],
  },
});

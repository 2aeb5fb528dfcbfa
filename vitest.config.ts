import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/**
 * Rooms whose tests wait for processes, servers and the compiler rather than for their own speed, and
 * leave a core free: two of their files at a time. Whoever is not named is alone on the machine.
 */
const PAIRED = new Set([
  ...['admin', 'cli', 'codec', 'deploy', 'docs', 'engine', 'fleet', 'ground', 'history', 'journal'],
  ...['machine', 'machines', 'package', 'properties', 'query', 'results', 'simulation', 'store'],
  ...['telemetry', 'testing', 'types', 'tidy.test.ts'],
]);

/** Of those: what keeps all cores busy by itself, or measures what is left to it. */
const ALONE = new Set([
  'admin/siege.test.ts',
  'admin/stream-kill.test.ts',
  'codec/crash.test.ts',
  'docs/blocks.test.ts',
  'fleet/copied-journal.test.ts',
  'fleet/crash-points/crash-points.test.ts',
  'fleet/drain.test.ts',
  'fleet/forced-leaders.test.ts',
  'fleet/heart-lock.test.ts',
  'fleet/live-pods.test.ts',
  'fleet/local-runs.test.ts',
  'fleet/suspects.test.ts',
  'fleet/thread-heart.test.ts',
  'simulation/simulation.test.ts',
  'store/postgres-deadlines.test.ts',
  'store/sqlite-plans.test.ts',
  'telemetry/metrics.test.ts',
  'telemetry/traces.test.ts',
]);

const root = fileURLToPath(new URL('./', import.meta.url));
const files = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.test.ts'));

for (const file of ALONE) {
  if (!files.includes(file)) throw new Error(`ALONE names test/${file}, which is not there`);
}

const isPaired = (file: string) => PAIRED.has(file.split('/')[0] ?? '') && !ALONE.has(file);

const project = (name: string, maxWorkers: number, chosen: readonly string[]) => ({
  resolve: { alias: { fleetq: `${root}src/index.ts` } },
  test: {
    name,
    include: chosen.map((file) => `test/${file}`),
    maxWorkers,
    // Whoever shares the machine may need twice as long.
    testTimeout: 60_000 * maxWorkers,
    hookTimeout: 60_000 * maxWorkers,
  },
});

export default defineConfig({
  test: {
    globalSetup: ['test/support/build-once.ts'],
    projects: [
      project('paired', 2, files.filter(isPaired)),
      // Many tests start real processes and kill them: one file after another keeps them honest.
      project(
        'alone',
        1,
        files.filter((file) => !isPaired(file)),
      ),
    ],
  },
});

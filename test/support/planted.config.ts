/** For test files that a test plants elsewhere: run as unit tests are, with what a run reports. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { FailuresReporter } from './failures-reporter.ts';
import { TallyReporter } from './tally-reporter.ts';

export default defineConfig({
  test: {
    include: ['*.planted.js'],
    globals: true,
    isolate: false,
    maxWorkers: 1,
    setupFiles: [fileURLToPath(new URL('./leak-check.ts', import.meta.url))],
    reporters: [
      new FailuresReporter(),
      'default',
      ['json', { outputFile: process.env['FLEETQ_PLANTED_REPORT'] }],
      new TallyReporter(),
    ],
  },
});

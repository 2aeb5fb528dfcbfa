/**
 * Once before all tests. Those that start real processes run what users run: the built files, so they
 * are built first. Those that start a Postgres begin with a copy of one data directory.
 */
import { execFileSync } from 'node:child_process';
import { findChromium } from './chromium.ts';
import { keepFirstPostgres } from './postgres-data.ts';

export function setup(): () => void {
  // To install a browser takes longer than a test may; where it is there, this is a look.
  if (process.env['CI'] === 'true') findChromium();
  const forgetPostgres = keepFirstPostgres();
  if (process.env['FLEETQ_TEST_BUILT'] !== 'yes') {
    execFileSync(process.execPath, ['tools/build.mjs'], { stdio: 'inherit' });
  }
  return forgetPostgres;
}

/**
 * Once before all tests. Those that start real processes run what users run: the built files, so they
 * are built first. Those that start a Postgres begin with a copy of one data directory.
 */
import { execFileSync } from 'node:child_process';
import { keepFirstPostgres } from './postgres-data.ts';

export function setup(): () => void {
  const forgetPostgres = keepFirstPostgres();
  if (process.env['FLEETQ_TEST_BUILT'] !== 'yes') {
    execFileSync('npm', ['run', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  return forgetPostgres;
}

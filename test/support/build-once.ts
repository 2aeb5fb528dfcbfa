/** Tests that start real processes run what users run: the built files. So they are built first. */
import { execFileSync } from 'node:child_process';

export function setup(): void {
  if (process.env['FLEETQ_TEST_BUILT'] === 'yes') return;
  execFileSync('npm', ['run', 'build'], { stdio: ['ignore', 'ignore', 'inherit'] });
}

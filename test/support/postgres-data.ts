/**
 * The data directories of the servers that tests start. Making one costs most of a second, and all
 * begin alike: the first of a run of the tests is made, the others are copied from it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asUser } from './postgres-binaries.ts';
import { removeTree } from './remove-tree.ts';

const HOME = 'FLEETQ_TEST_POSTGRES_HOME';

/** Where the first one of this run is kept; answers what removes it. Tests within a test share it. */
export function keepFirstPostgres(): () => void {
  if (existsSync(process.env[HOME] ?? '')) return () => undefined;
  const home = placeForPostgres('fleetq-postgres-first-');
  process.env[HOME] = home;
  return () => removeTree(home);
}

/** A directory that belongs to whoever the server runs as. */
export function placeForPostgres(prefix: string): string {
  const place = mkdtempSync(join(tmpdir(), prefix));
  chmodSync(place, 0o700);
  if (asUser.uid !== undefined) chownSync(place, asUser.uid, asUser.gid!);
  return place;
}

/** Makes the directory `data`, as `initdb` leaves it. */
export function makePostgresData(initdb: string, data: string): void {
  const home = process.env[HOME] ?? '';
  if (!existsSync(home)) return runInitdb(initdb, data);
  const first = join(home, 'data');
  if (!existsSync(first)) makeFirst(initdb, home, first);
  runAsUser('cp', ['-R', first, data]);
}

function makeFirst(initdb: string, home: string, first: string): void {
  const fresh = join(home, `new-${process.pid}`);
  runInitdb(initdb, fresh);
  try {
    renameSync(fresh, first);
  } catch {
    // Another test file was faster; its directory is as good.
    removeTree(fresh);
  }
}

function runInitdb(initdb: string, data: string): void {
  const choices = ['--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'];
  runAsUser(initdb, ['-D', data, '-U', 'postgres', ...choices]);
}

function runAsUser(program: string, args: readonly string[]): void {
  execFileSync(program, args, { ...asUser, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] });
}

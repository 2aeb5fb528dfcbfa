/**
 * PgBouncer in transaction mode before a test's Postgres: every statement may land on another
 * connection. It comes from the Debian package; where it is missing, root installs it if it can.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, runOn, type TestPostgres } from './postgres.ts';
import { asUser } from './postgres-binaries.ts';
import { removeTree } from './remove-tree.ts';

const START_MS_MAX = 90_000;

export interface TestPgBouncer {
  /** The address of the same database, through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** Undefined where PgBouncer cannot be had; with CI=true that is an error. */
export function findPgBouncer(): string | undefined {
  if (which() === undefined) install();
  const found = which();
  if (found !== undefined) return found;
  const message = 'PgBouncer is missing: apt-get install pgbouncer';
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}; its tests are skipped\n`);
  return undefined;
}

function which(): string | undefined {
  const path = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;
  try {
    const env = { ...process.env, PATH: path };
    return execFileSync('sh', ['-c', 'command -v pgbouncer'], { env, encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}

function install(): void {
  if (process.getuid?.() !== 0) return;
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, stdio: 'ignore' } as const;
  try {
    execFileSync(
      'sh',
      ['-c', 'apt-get install -y pgbouncer || (apt-get update && apt-get install -y pgbouncer)'],
      options,
    );
  } catch {
    // Whoever asked sees that it is still missing.
  }
}

/** `settings`: lines of pgbouncer.ini. */
export async function startPgBouncer(
  program: string,
  server: TestPostgres,
  settings: readonly string[] = [],
): Promise<TestPgBouncer> {
  const place = mkdtempSync(join(tmpdir(), 'fleetq-pgbouncer-'));
  chmodSync(place, 0o755);
  const port = await freePort();
  writeFileSync(
    join(place, 'pgbouncer.ini'),
    [
      '[databases]',
      `* = host=${server.host} port=${server.port}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = trust',
      `auth_file = ${join(place, 'users.txt')}`,
      'pool_mode = transaction',
      'default_pool_size = 10',
      'max_client_conn = 500',
      ...settings,
    ].join('\n'),
  );
  writeFileSync(join(place, 'users.txt'), '"postgres" ""\n"fleetq_pooled" ""\n');
  const child = spawn(program, [join(place, 'pgbouncer.ini')], {
    ...asUser,
    cwd: place,
    stdio: 'ignore',
  });
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  const bouncer = {
    through: (url: string) => throughPooler(url, port),
    stop: async () => {
      process.off('exit', onExit);
      await end(child);
      removeTree(place);
    },
  };
  await untilAnswers(`postgres://postgres@127.0.0.1:${port}/postgres`).catch(async (error) => {
    await bouncer.stop();
    throw error;
  });
  return bouncer;
}

function throughPooler(url: string, port: number): string {
  const parts = new URL(url);
  parts.host = `127.0.0.1:${port}`;
  return parts.href;
}

async function untilAnswers(url: string): Promise<void> {
  const giveUpAt = performance.now() + START_MS_MAX;
  for (;;) {
    try {
      await runOn(url, 'select 1');
      return;
    } catch (error) {
      if (performance.now() > giveUpAt) throw error;
      await sleep(20);
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

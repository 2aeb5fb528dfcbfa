/**
 * A directory of a new user on a host that has Node and nothing else: a PATH with one program in it, a home
 * that is empty. What is left of the environment is how the network is reached.
 */
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ROOT } from '../build/parts.ts';

export interface Ended {
  readonly code: number | null;
  /** Of stdout and stderr, as it came. */
  readonly said: string;
}

export interface Place {
  /** The user's project. */
  readonly project: string;
  /** The program that runs JavaScript here. */
  readonly runtime: string;
  readonly env: Readonly<Record<string, string>>;
}

const NETWORK = /^(https?_proxy|no_proxy|.*_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/i;

/** `more` are variables of one package manager. */
export function makePlace(
  home: string,
  runtime: string,
  tarball: string,
  more: Readonly<Record<string, string>> = {},
): Place {
  const [bin, project] = [join(home, 'bin'), join(home, 'project')];
  for (const directory of [bin, project]) mkdirSync(directory, { recursive: true });
  symlinkSync(runtime, join(bin, basename(runtime)));
  copyFileSync(tarball, join(home, 'fleetq.tgz'));
  writeFileSync(join(project, 'package.json'), '{ "name": "app", "private": true }\n');
  const network = Object.entries(process.env).filter(([name]) => NETWORK.test(name));
  const registry = npmConfig('registry');
  const env = {
    ...(Object.fromEntries(network) as Record<string, string>),
    PATH: bin,
    HOME: home,
    TMPDIR: process.env['TMPDIR'] ?? '/tmp',
    NO_COLOR: '1',
    npm_config_registry: registry,
    // One cache for all: what is tried is installing, and not the network.
    npm_config_cache: npmConfig('cache'),
    YARN_NPM_REGISTRY_SERVER: registry,
    ...more,
  };
  return { project, runtime: join(bin, basename(runtime)), env };
}

function npmConfig(name: string): string {
  const asked = execFileSync('npm', ['config', 'get', name], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return asked.trim();
}

export interface RunOptions {
  readonly timeoutMs: number;
  /** Hears what is said; may end the process by a signal. */
  readonly onSaid?: (said: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** In a group of its own, of which nothing is left when it ends. */
export function run(
  { project, runtime, env }: Place,
  args: readonly string[],
  { timeoutMs, onSaid }: RunOptions,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(runtime, args, {
      cwd: project,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const hear = (text: string) => {
      said += text;
      onSaid?.(said, (signal) => child.kill(signal));
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    const timer = setTimeout(() => endGroup(child.pid), timeoutMs);
    child.once('error', reject);
    child.once('exit', () => setTimeout(() => endGroup(child.pid), 100));
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code, said });
    });
  });
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing is left in it.
  }
}

export function forget(home: string): void {
  rmSync(home, { recursive: true, force: true });
}

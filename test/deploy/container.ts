/**
 * Runs a container of a manifest as a real process: its command, its environment, its volumes, its
 * user. As root on Linux it is a container in earnest, with a read-only root, made of namespaces;
 * elsewhere it is a plain process whose volumes are directories. One thing differs from a cluster:
 * all pods have the same address, so each listens for probes on a port of its own.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Container as Spec } from 'kubernetes-types/core/v1.d.ts';
import { freePort } from '../support/postgres.ts';
import { execForm, environmentOf as imageEnvironment, one, readDockerfile } from './dockerfile.ts';
import { environmentOf, type Given, specOf } from './manifests.ts';

const SCRIPT = fileURLToPath(new URL('./container.sh', import.meta.url));
const USER = 1000;
export const isContained = canContain();

function canContain(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    execFileSync('unshare', ['-m', '-p', '-f', 'setpriv', '--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

export interface PodOptions extends Given {
  /** Where the image was laid. */
  readonly image: string;
  /** The StatefulSet, Deployment or Job. */
  readonly of: string;
  /** Directories by the names of volumes; a volume that is not named gets a new one. */
  readonly volumes?: Readonly<Record<string, string>>;
  /** Settings that a cluster would have in its ConfigMap. */
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of what the image and the manifest call. */
  readonly command?: readonly string[];
  readonly place: string;
}

export interface RunningPod {
  readonly ended: Promise<Ended>;
  readonly volumes: Readonly<Record<string, string>>;
  /** The status and the text that a probe gets; 0 where nobody answers. */
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>;
  signal(signal: NodeJS.Signals): void;
  /** Ends it by force, if it has not ended. */
  remove(): Promise<void>;
}

/** As the kubelet makes one: it belongs to root, and to the group of `fsGroup`. */
export function makeVolume(place: string, mode: number): string {
  const path = mkdtempSync(join(place, 'volume-'));
  if (isContained) chownSync(path, 0, USER);
  chmodSync(path, mode);
  return path;
}
export const EMPTY_DIR = 0o2777;
export const CLAIMED = 0o2775;

export async function startPod(options: PodOptions): Promise<RunningPod> {
  const [spec] = specOf(options.of).containers as [Spec];
  const port = await freePort();
  const volumes = Object.fromEntries(
    (spec.volumeMounts ?? []).map(({ name }) => [
      name,
      options.volumes?.[name] ?? makeVolume(options.place, EMPTY_DIR),
    ]),
  );
  const final = readDockerfile().at(-1)!;
  const env = {
    ...imageEnvironment(final),
    ...environmentOf(spec, options),
    FLEETQ_HEALTH_LISTEN: `127.0.0.1:${port}`,
    ...options.env,
  };
  const entry = execForm(one(final, 'ENTRYPOINT'));
  const command = options.command ?? [...entry, ...(spec.args ?? execForm(one(final, 'CMD')))];
  const mounts = (spec.volumeMounts ?? []).map((mount) => ({
    from: volumes[mount.name]!,
    to: mount.mountPath,
  }));
  const child = isContained
    ? contained(options, env, mounts, command)
    : plain(options, env, mounts, command);
  return watch(child, port, volumes);
}

interface Mount {
  readonly from: string;
  readonly to: string;
}
type Environment = Readonly<Record<string, string>>;

function contained(
  { image, place }: PodOptions,
  env: Environment,
  mounts: readonly Mount[],
  command: readonly string[],
): ChildProcess {
  const root = mkdtempSync(join(place, 'root-'));
  const volumes = mounts.flatMap(({ from, to }) => [from, to]);
  const options = ['--mount', '--pid', '--fork', '--kill-child', 'sh', SCRIPT];
  const args = [root, join(image, 'app'), process.execPath, String(USER), ...volumes, '--'];
  return spawn('unshare', [...options, ...args, ...command], {
    env: { ...env, PATH: `/node:${env['PATH']}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Paths of volumes become those of their directories. */
function plain(
  { image }: PodOptions,
  env: Environment,
  mounts: readonly Mount[],
  [command = '', ...args]: readonly string[],
): ChildProcess {
  const app = join(image, 'app');
  const here = Object.entries(env).map(([name, value]) => {
    const mount = mounts.find(({ to }) => value.startsWith(`${to}/`));
    return [name, mount ? mount.from + value.slice(mount.to.length) : value];
  });
  const path = [join(app, 'node_modules/.bin'), dirname(process.execPath), process.env['PATH']];
  const tmp = mounts.find(({ to }) => to === '/tmp')?.from;
  return spawn(command, args, {
    cwd: app,
    env: { ...Object.fromEntries(here), PATH: path.join(':'), ...(tmp ? { TMPDIR: tmp } : {}) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function watch(
  child: ChildProcess,
  port: number,
  volumes: Readonly<Record<string, string>>,
): RunningPod {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output }) as Ended);
  return {
    ended,
    volumes,
    ask: async (path) => {
      try {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`);
        return { status: answer.status, text: await answer.text() };
      } catch {
        return { status: 0, text: output };
      }
    },
    signal: (signal) =>
      void process.kill(isContained ? firstChild(child.pid!) : child.pid!, signal),
    remove: async () => {
      // What is in a container goes with the process that made it.
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The process that is number 1 in the container, by the number that it has out here. */
function firstChild(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const found = Number(children[0]);
  // Nobody there is no number, and 0 would be everybody out here.
  if (!(found > 1)) throw new Error(`the container of process ${pid} has no process`);
  return found;
}

/**
 * The volume of a pod that can be cloned as a cloud does it: a file system in a file, mounted in a mount
 * namespace of its own. A clone is mounted at the same path, and has the same files under the same inode
 * numbers with the same births.
 */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { removeTree } from '../../test/support/remove-tree.ts';

const run = promisify(execFile);
const SIZE_MIB = 2_048;

/** Why there can be none here; undefined where there can. With CI=true that is an error. */
export function whyNoVolume(): string | undefined {
  const place = mkdtempSync(join(tmpdir(), 'fleetq-volume-'));
  try {
    const image = makeImage(place, 16);
    execFileSync('unshare', ['-m', 'mount', '-o', 'loop', image, place], { stdio: 'pipe' });
    execFileSync('nsenter', ['--version'], { stdio: 'pipe' });
    execFileSync('fsfreeze', ['--version'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    const why = `a clone of a volume needs root, loop devices, mkfs.ext4 and fsfreeze: ${(error as Error).message}`;
    if (process.env['CI'] === 'true') throw new Error(why);
    return why;
  } finally {
    removeTree(place);
  }
}

function makeImage(place: string, sizeMiB: number): string {
  const image = join(place, 'volume.img');
  writeFileSync(image, '');
  truncateSync(image, sizeMiB * 1024 * 1024);
  execFileSync('mkfs.ext4', ['-q', '-F', image], { stdio: 'pipe' });
  return image;
}

interface Mounted {
  readonly place: string;
  readonly image: string;
  readonly lifeSeconds: number;
}

export class PodVolume {
  readonly #mounted: Mounted;
  readonly #holder: ChildProcess;
  #clones = 0;
  /** A run that ends early must not leave its holder behind. */
  readonly #onExit = () => this.#holder.kill('SIGKILL');

  private constructor(mounted: Mounted, holder: ChildProcess) {
    this.#mounted = mounted;
    this.#holder = holder;
    process.once('exit', this.#onExit);
  }

  /** In a directory of its own below this one. */
  static async make(directory: string, lifeSeconds: number): Promise<PodVolume> {
    const place = mkdtempSync(join(directory, 'volume-'));
    mkdirSync(join(place, 'mount'));
    return PodVolume.#mount({ place, image: makeImage(place, SIZE_MIB), lifeSeconds });
  }

  static async #mount(mounted: Mounted): Promise<PodVolume> {
    const { place, image, lifeSeconds } = mounted;
    const script = `mount -o loop "$1" "$0" && echo ready && exec sleep ${lifeSeconds}`;
    const holder = spawn('unshare', ['-m', 'sh', '-c', script, join(place, 'mount'), image], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const isReady = await Promise.race([
      once(holder.stdout, 'data').then(() => true),
      once(holder, 'exit').then(() => false),
    ]);
    if (!isReady) throw new Error(`${image} could not be mounted`);
    return new PodVolume(mounted, holder);
  }

  get dataDir(): string {
    return join(this.#mounted.place, 'mount', 'data');
  }

  /** The root of those inside, as those outside see it. */
  get root(): string {
    return `/proc/${this.#holder.pid}/root`;
  }

  /** What a command is started through to be inside. */
  get inside(): readonly string[] {
    return ['nsenter', '-t', String(this.#holder.pid), '-m', '--'];
  }

  /** Taken at one instant, while a process writes to it. */
  async clone(): Promise<PodVolume> {
    const { place, image } = this.#mounted;
    this.#clones += 1;
    const copy = join(place, `clone-${this.#clones}.img`);
    const at = join(place, 'mount');
    await this.#inside('fsfreeze', '--freeze', at);
    try {
      await run('cp', ['--sparse=always', image, copy]);
    } finally {
      await this.#inside('fsfreeze', '--unfreeze', at);
    }
    return PodVolume.#mount({ ...this.#mounted, image: copy });
  }

  #inside(...words: readonly string[]): Promise<unknown> {
    const [command, ...rest] = [...this.inside, ...words];
    return run(command!, rest);
  }

  lose(directory: string): void {
    const [command, ...rest] = [...this.inside, 'rm', '-rf', directory];
    execFileSync(command!, rest);
  }

  remove(): void {
    process.off('exit', this.#onExit);
    this.#onExit();
    rmSync(this.#mounted.image, { force: true });
  }
}

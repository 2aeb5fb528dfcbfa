/**
 * A volume that can be cloned as a cloud does it: a file system in a file, mounted in a mount namespace of its
 * own, always at the same place. A clone has the same files under the same inode numbers, with the same births.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SIZE_MIB = 128;
const LIFE_SECONDS = 900;

export interface Volume {
  /** Where it is mounted, for those inside. */
  readonly directory: string;
  /** What a command is started through to be inside. */
  readonly inside: readonly string[];
  /** Taken at one instant, while processes write to it. */
  clone(name: string): Promise<Volume>;
  remove(): Promise<void>;
}

export async function makeVolume(home: string): Promise<Volume> {
  mkdirSync(home, { recursive: true });
  const image = join(home, 'volume.img');
  writeFileSync(image, '');
  truncateSync(image, SIZE_MIB * 1024 * 1024);
  execFileSync('mkfs.ext4', ['-q', '-F', image]);
  return mounted(home, image);
}

async function mounted(home: string, image: string): Promise<Volume> {
  const directory = join(home, 'volume');
  mkdirSync(directory, { recursive: true });
  const script = `mount -o loop "$1" "$0" && echo ready && exec sleep ${LIFE_SECONDS}`;
  const holder = spawn('unshare', ['-m', 'sh', '-c', script, directory, image], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => holder.kill('SIGKILL');
  process.once('exit', end);
  const ended = once(holder, 'exit');
  const isReady = await Promise.race([
    once(holder.stdout, 'data').then(() => true),
    ended.then(() => false),
  ]);
  if (!isReady) throw new Error(`${image} could not be mounted`);
  const inside = ['nsenter', '-t', String(holder.pid), '-m', '--'];
  const run = (...args: string[]) => execFileSync(inside[0]!, [...inside.slice(1), ...args]);
  return {
    directory,
    inside,
    clone: async (name) => {
      const copy = join(home, `${name}.img`);
      run('fsfreeze', '--freeze', directory);
      try {
        execFileSync('cp', ['--sparse=always', image, copy]);
      } finally {
        run('fsfreeze', '--unfreeze', directory);
      }
      return mounted(home, copy);
    },
    remove: async () => {
      process.off('exit', end);
      end();
      await ended;
    },
  };
}

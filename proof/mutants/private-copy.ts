/**
 * A copy of the tree in the temporary directory, where bugs can be planted: every file that git knows
 * or would take, the packages by links. It has a temporary directory of its own, so that whatever a
 * killed test leaves behind goes with it.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../../test/support/remove-tree.ts';

export interface PrivateCopy {
  readonly root: string;
  readonly temporary: string;
  remove(): void;
}

export function copyTree(from: string): PrivateCopy {
  const place = mkdtempSync(join(tmpdir(), 'fleetq-mutants-'));
  // A server that is run as another user has to get at its own directory in here.
  chmodSync(place, 0o755);
  const remove = () => removeTree(place);
  try {
    const [root, temporary] = [join(place, 'tree'), join(place, 'tmp')];
    for (const directory of [root, temporary]) mkdirSync(directory);
    chmodSync(temporary, 0o1777);
    for (const file of filesOf(from)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      copyFileSync(join(from, file), join(root, file));
    }
    linkPackages(join(from, 'node_modules'), join(root, 'node_modules'));
    return { root, temporary, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

function filesOf(root: string): string[] {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  // One that was deleted and not yet taken out of the index is listed too.
  return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
}

/** Each by itself, so that caches are made in the copy and not in the original. */
function linkPackages(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(to);
  for (const name of readdirSync(from)) {
    if (name.startsWith('.') && name !== '.bin') continue;
    symlinkSync(join(from, name), join(to, name));
  }
}

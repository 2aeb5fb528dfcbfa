/** The link that says which version of an image is in use, changed in one step. */
import { lstat, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { abort } from 'fleetq';
import { syncDirectory, unless } from './files.ts';
import type { Places } from './places.ts';

/** Where `current` points; undefined where there is none, or something that is no link. */
export async function readCurrent({ current }: Places): Promise<string | undefined> {
  return unless(['ENOENT', 'EINVAL'], readlink(current));
}

/** Makes a new link beside and renames it over: readers see the old version or the new one. */
export async function swapCurrent(places: Places, bench: string): Promise<void> {
  const found = await unless(['ENOENT'], lstat(places.current));
  if (found && !found.isSymbolicLink()) {
    abort(`${places.current} is no symbolic link, and only a link is replaced: move it away`, {
      kind: 'user',
    });
  }
  const link = join(bench, 'link');
  await rm(link, { force: true });
  await symlink(places.currentTarget, link);
  await rename(link, places.current);
  await syncDirectory(places.home);
}

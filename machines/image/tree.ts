/**
 * A tree on disk as one hash over its paths, modes, contents and link targets, and the manifest that
 * says what the hash has to be. The manifest is written last, so a tree without one is not whole.
 */
import { createHash } from 'node:crypto';
import { lstat, open, readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { sha256Of, syncDirectory, unless } from './files.ts';

const Manifest = z.object({
  format: z.literal(1),
  archive: z.string(),
  entries: z.int().nonnegative(),
  bytes: z.int().nonnegative(),
  tree: z.string(),
});
export type Manifest = z.infer<typeof Manifest>;

export type Leaf =
  | { readonly type: 'directory'; readonly mode: number }
  | { readonly type: 'file'; readonly mode: number; readonly sha256: string }
  | { readonly type: 'symlink'; readonly target: string };

/** Independent of the order in which the leaves were met. */
export function hashLeaves(leaves: ReadonlyMap<string, Leaf>): string {
  const hash = createHash('sha256');
  for (const path of [...leaves.keys()].sort()) {
    hash.update(`${JSON.stringify([path, ...Object.entries(leaves.get(path)!).sort()])}\n`);
  }
  return hash.digest('hex');
}

export async function writeManifest(version: string, manifest: Manifest): Promise<void> {
  const handle = await open(join(version, 'manifest.json'), 'w', 0o644);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await syncDirectory(version);
}

/** The manifest of a version whose tree is as the manifest says, byte for byte; else undefined. */
export async function verifyVersion(
  version: string,
  archive: string,
  signal: AbortSignal,
): Promise<Manifest | undefined> {
  const manifest = await readManifest(version);
  if (manifest?.archive !== archive) return undefined;
  const leaves = await readLeaves(join(version, 'tree'), manifest.entries, signal);
  return leaves && hashLeaves(leaves) === manifest.tree ? manifest : undefined;
}

async function readManifest(version: string): Promise<Manifest | undefined> {
  const text = await unless(
    ['ENOENT', 'ENOTDIR'],
    readFile(join(version, 'manifest.json'), 'utf8'),
  );
  try {
    return Manifest.safeParse(JSON.parse(text ?? 'null')).data;
  } catch {
    return undefined;
  }
}

/** All that is below `root`; undefined where it is not there, is of a kind no image has, or is more. */
async function readLeaves(
  root: string,
  countMax: number,
  signal: AbortSignal,
): Promise<Map<string, Leaf> | undefined> {
  const leaves = new Map<string, Leaf>();
  const ahead = [''];
  for (let directory = ahead.pop(); directory !== undefined; directory = ahead.pop()) {
    const names = await unless(['ENOENT', 'ENOTDIR'], readdir(join(root, directory)));
    if (!names) return undefined;
    for (const name of names) {
      signal.throwIfAborted();
      const path = directory === '' ? name : `${directory}/${name}`;
      const leaf = await readLeaf(join(root, path), signal);
      if (!leaf || leaves.size >= countMax) return undefined;
      leaves.set(path, leaf);
      if (leaf.type === 'directory') ahead.push(path);
    }
  }
  return leaves;
}

async function readLeaf(path: string, signal: AbortSignal): Promise<Leaf | undefined> {
  const found = await lstat(path);
  const mode = found.mode & 0o777;
  if (found.isDirectory()) return { type: 'directory', mode };
  if (found.isSymbolicLink()) return { type: 'symlink', target: await readlink(path) };
  if (found.isFile()) return { type: 'file', mode, sha256: await sha256Of(path, signal) };
  return undefined;
}

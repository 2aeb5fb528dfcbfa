/**
 * Unpacks an archive into a new directory. Symbolic links are made when everything else is written,
 * so that nothing can be written through one; every file and directory is synced before the manifest
 * says that they are there.
 */
import { createHash } from 'node:crypto';
import { link, mkdir, open, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makeParent, syncDirectory, unless, writeAll } from './files.ts';
import { readTar, type TarEntry } from './tar-reader.ts';
import { type ArchiveLimits, openArchive, refuse } from './tar-source.ts';
import { hashLeaves, type Leaf, type Manifest, verifyVersion, writeManifest } from './tree.ts';
import { TreePlan } from './tree-plan.ts';

export const ARCHIVE_LIMITS: ArchiveLimits = {
  bytesMax: 32 * 2 ** 30,
  entryCountMax: 200_000,
  ratioMax: 200,
  ratioFreeBytes: 16 * 2 ** 20,
};

export interface UnpackOptions {
  readonly archive: string;
  readonly sha256: string;
  /** Made anew: what is there from an attempt that died is removed. */
  readonly version: string;
  readonly limits: ArchiveLimits;
  readonly signal: AbortSignal;
}

/** Leaves `version` whole, with its manifest, or throws. */
export async function unpackArchive(options: UnpackOptions): Promise<Manifest> {
  const { version, limits, signal } = options;
  await rm(version, { recursive: true, force: true });
  const root = join(version, 'tree');
  await mkdir(root, { recursive: true, mode: 0o755 });
  const tree = new TreeWriter(root, limits, signal);
  const source = await openArchive(options.archive, limits, signal);
  try {
    for await (const entry of readTar(source)) await tree.write(entry);
  } finally {
    await source.close();
  }
  const written = await tree.finish();
  const manifest: Manifest = { format: 1, archive: options.sha256, ...written };
  await writeManifest(version, manifest);
  return manifest;
}

class TreeWriter {
  readonly #root: string;
  readonly #limits: ArchiveLimits;
  readonly #signal: AbortSignal;
  readonly #plan: TreePlan;
  readonly #leaves = new Map<string, Leaf>();
  #bytes = 0;

  constructor(root: string, limits: ArchiveLimits, signal: AbortSignal) {
    this.#root = root;
    this.#limits = limits;
    this.#signal = signal;
    this.#plan = new TreePlan(limits.entryCountMax);
  }

  async write(entry: TarEntry): Promise<void> {
    this.#signal.throwIfAborted();
    const file = entry.type === 'hardlink' ? this.#plan.fileOf(entry) : undefined;
    const { path, implied } = this.#plan.admit(entry);
    for (const parent of implied) await mkdir(join(this.#root, parent));
    if (path === '') return;
    try {
      if (entry.type === 'directory') await mkdir(join(this.#root, path), { recursive: true });
      if (entry.type === 'file') this.#leaves.set(path, await this.#writeFile(path, entry));
      if (file !== undefined) {
        await link(join(this.#root, file), join(this.#root, path));
        this.#leaves.set(path, this.#leaves.get(file)!);
      }
    } catch (error) {
      // Names that differ to us may be one to a file system that folds case.
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') refuse(`'${path}' is in it twice`);
      throw error;
    }
  }

  async #writeFile(path: string, { size, body, ...entry }: TarEntry): Promise<Leaf> {
    // Whoever cannot read a file cannot verify it either.
    const mode = entry.mode | 0o400;
    this.#bytes += size;
    if (this.#bytes > this.#limits.bytesMax) {
      refuse(`it is a bomb: its files have more than ${this.#limits.bytesMax} bytes`);
    }
    const hash = createHash('sha256');
    let at = 0;
    const handle = await open(join(this.#root, path), 'wx', 0o600);
    try {
      for await (const piece of body) {
        this.#signal.throwIfAborted();
        hash.update(piece);
        await writeAll(handle, piece, at);
        at += piece.length;
      }
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { type: 'file', mode, sha256: hash.digest('hex') };
  }

  async finish(): Promise<Pick<Manifest, 'entries' | 'bytes' | 'tree'>> {
    for (const [path, target] of await this.#plan.safeLinks(this.#signal)) {
      this.#signal.throwIfAborted();
      await symlink(target, join(this.#root, path));
      this.#leaves.set(path, { type: 'symlink', target });
    }
    for (const [path, planned] of this.#plan.paths) {
      if (planned.type !== 'directory') continue;
      this.#signal.throwIfAborted();
      await settleDirectory(join(this.#root, path), planned.mode);
      this.#leaves.set(path, { type: 'directory', mode: planned.mode });
    }
    await syncDirectory(this.#root);
    return { entries: this.#leaves.size, bytes: this.#bytes, tree: hashLeaves(this.#leaves) };
  }
}

async function settleDirectory(path: string, mode: number): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Puts an unpacked version in its place; false where it is not there to be put. */
export async function publishVersion(
  from: string,
  to: string,
  archive: string,
  signal: AbortSignal,
): Promise<boolean> {
  await makeParent(to);
  if (!(await isMoved(from, to)) && !(await verifyVersion(to, archive, signal))) {
    // What stands there is damaged. Aside with it, to where it is removed with the bench.
    const aside = `${from}.aside`;
    await rm(aside, { recursive: true, force: true });
    await unless(['ENOENT'], rename(to, aside));
    if (!(await isMoved(from, to))) return false;
  }
  await syncDirectory(join(to, '..'));
  return true;
}

/** A rename onto a directory with something in it fails, whoever put it there. */
async function isMoved(from: string, to: string): Promise<boolean> {
  const inTheWay = ['ENOENT', 'ENOTEMPTY', 'EEXIST', 'ENOTDIR'];
  return (
    (await unless(
      inTheWay,
      rename(from, to).then(() => true),
    )) ?? false
  );
}

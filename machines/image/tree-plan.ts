/**
 * What an archive may put where. The plan knows every path that was admitted and nothing of the disk:
 * it decides, the unpacker acts. Links are judged when all of them are known, since one that leads
 * astray may do so through another that comes later.
 */
import { LinkJudge, type LinkTarget, linkTarget } from './link-judge.ts';
import type { TarEntry } from './tar-reader.ts';
import { refuse } from './tar-source.ts';

const PATH_BYTES_MAX = 1_024;
const NAME_BYTES_MAX = 255;

export type Planned =
  | { readonly type: 'directory'; readonly mode: number; readonly isImplied: boolean }
  | { readonly type: 'file' }
  | ({ readonly type: 'symlink' } & LinkTarget);

export class TreePlan {
  readonly paths = new Map<string, Planned>();
  readonly #entryCountMax: number;
  #entryCount = 0;

  constructor(entryCountMax: number) {
    this.#entryCountMax = entryCountMax;
  }

  /** Where the entry goes, and which directories it takes for granted; '' is the root itself. */
  admit(entry: TarEntry): { readonly path: string; readonly implied: readonly string[] } {
    if (++this.#entryCount > this.#entryCountMax) {
      refuse(`it has more than ${this.#entryCountMax} entries`);
    }
    const path = cleanPath(entry.path, 'a path');
    if (path === '') {
      if (entry.type !== 'directory') refuse(`'${entry.path}' is no name for a ${entry.type}`);
      return { path, implied: [] };
    }
    const known = this.paths.get(path);
    const isSpelledOut = known?.type === 'directory' && known.isImplied;
    if (known && !(isSpelledOut && entry.type === 'directory')) refuse(`'${path}' is in it twice`);
    const implied = this.#implyParents(path);
    this.paths.set(path, plannedOf(entry));
    return { path, implied };
  }

  /** The path of the earlier file that a hard link names. */
  fileOf(entry: TarEntry): string {
    const path = cleanPath(entry.linkPath, `the hard link '${entry.path}'`);
    if (this.paths.get(path)?.type !== 'file') {
      refuse(`the hard link '${entry.path}' names '${path}', which is no earlier file of it`);
    }
    return path;
  }

  /** The symbolic links, none of which leaves the root, by whatever way. */
  async safeLinks(signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const links = new Map<string, string>();
    for (const [path, planned] of this.paths) {
      if (planned.type === 'symlink') links.set(path, planned.target);
    }
    const linkAt = (path: string) => {
      const planned = this.paths.get(path);
      return planned?.type === 'symlink' ? planned : undefined;
    };
    await new LinkJudge(linkAt, this.#entryCountMax).refuseStray(links.keys(), signal);
    return links;
  }

  #implyParents(path: string): string[] {
    const implied: string[] = [];
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) {
      const parent = path.slice(0, at);
      const known = this.paths.get(parent);
      if (known && known.type !== 'directory') {
        refuse(`'${path}' goes through '${parent}', which is a ${known.type}`);
      }
      if (known) continue;
      if (++this.#entryCount > this.#entryCountMax) {
        refuse(`it has more than ${this.#entryCountMax} entries`);
      }
      this.paths.set(parent, { type: 'directory', mode: 0o755, isImplied: true });
      implied.push(parent);
    }
    return implied;
  }
}

function plannedOf(entry: TarEntry): Planned {
  if (entry.type === 'directory') {
    return { type: 'directory', mode: entry.mode | 0o700, isImplied: false };
  }
  if (entry.type !== 'symlink') return { type: 'file' };
  return { type: 'symlink', ...linkTarget(entry.path, entry.linkPath) };
}

/** The path without './' and doubled slashes, where it stays inside the root. */
function cleanPath(raw: string, what: string): string {
  const shown = raw.length > 80 ? `${raw.slice(0, 80)}…` : raw;
  if (raw.startsWith('/')) refuse(`${what} is absolute: '${shown}'`);
  const names = raw.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) refuse(`${what} goes up with '..': '${shown}'`);
  const path = names.join('/');
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
    refuse(`${what} is longer than ${PATH_BYTES_MAX} bytes: '${shown}'`);
  }
  if (names.some((name) => Buffer.byteLength(name) > NAME_BYTES_MAX)) {
    refuse(`${what} has a name of more than ${NAME_BYTES_MAX} bytes: '${shown}'`);
  }
  return path;
}

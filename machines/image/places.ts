/**
 * Where an image lives under its root. Everything is on one file system, so that every publication
 * is one rename.
 *
 *   <root>/<name>/archives/<sha256>                what was pulled
 *   <root>/<name>/versions/<sha256>/manifest.json  written last: what the tree has to be
 *   <root>/<name>/versions/<sha256>/tree/…         what was unpacked
 *   <root>/<name>/current → versions/<sha256>/tree
 *   <root>/<name>/tmp/<run>.<owner>/…              one bench for each run that is at work
 */
import { join } from 'node:path';

export interface ImagePlace {
  readonly root: string;
  readonly name: string;
  readonly sha256: string;
}

export interface Places {
  readonly home: string;
  readonly benches: string;
  readonly archive: string;
  readonly version: string;
  readonly tree: string;
  readonly current: string;
  /** What `current` says: relative, so that the root may be moved or mounted elsewhere. */
  readonly currentTarget: string;
}

export function placesOf({ root, name, sha256 }: ImagePlace): Places {
  const home = join(root, name);
  return {
    home,
    benches: join(home, 'tmp'),
    archive: join(home, 'archives', sha256),
    version: join(home, 'versions', sha256),
    tree: join(home, 'versions', sha256, 'tree'),
    current: join(home, 'current'),
    currentTarget: join('versions', sha256, 'tree'),
  };
}

/**
 * Where the symbolic links of an archive lead, walked as the kernel would walk them, through whatever
 * other links are on the way. Links are cheap to write and dear to follow: a kilobyte of them may
 * describe a walk without end. So each is resolved once, every walk has bounds, and others get their
 * turn in between.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { refuse } from './tar-source.ts';

/** A link's target, and the names in it that lead somewhere: neither empty nor '.'. */
export interface LinkTarget {
  readonly target: string;
  readonly names: readonly string[];
}

interface Resolved {
  readonly at: string;
  /** How many links were followed on the way. */
  readonly hops: number;
}

const TARGET_BYTES_MAX = 1_024;
const NAME_COUNT_MAX = 256;
/** As many as Linux follows. */
const HOPS_MAX = 40;
/** Nothing in an archive has a longer path, so a link that leads there leads to nothing. */
const WALKED_LENGTH_MAX = 1_024;
/** The links of real trees have three or four names each. */
const STEPS_PER_ENTRY = 16;
const STEPS_PER_TURN = 10_000;
const SHOWN_LENGTH_MAX = 80;

export function linkTarget(path: string, target: string): LinkTarget {
  if (target === '') refuse(`the link '${path}' has no target`);
  if (target.startsWith('/')) {
    refuse(`the link ${arrow(path, target)} leads out of the root: it is absolute`);
  }
  const names = target.split('/').filter((name) => name !== '' && name !== '.');
  if (Buffer.byteLength(target) > TARGET_BYTES_MAX || names.length > NAME_COUNT_MAX) {
    refuse(`the link '${path}' is too long`);
  }
  return { target, names };
}

export class LinkJudge {
  readonly #linkAt: (path: string) => LinkTarget | undefined;
  readonly #resolved = new Map<string, Resolved>();
  readonly #stepCountMax: number;
  #stepCount = 0;

  constructor(linkAt: (path: string) => LinkTarget | undefined, entryCountMax: number) {
    this.#linkAt = linkAt;
    this.#stepCountMax = entryCountMax * STEPS_PER_ENTRY;
  }

  /** Refuses the first link that leaves the root, or never arrives. */
  async refuseStray(paths: Iterable<string>, signal: AbortSignal): Promise<void> {
    let turnAt = STEPS_PER_TURN;
    for (const path of paths) {
      this.#resolve(path, 0);
      if (this.#stepCount < turnAt) continue;
      turnAt = this.#stepCount + STEPS_PER_TURN;
      await nextTurn();
      signal.throwIfAborted();
    }
  }

  #resolve(path: string, depth: number): Resolved {
    const known = this.#resolved.get(path);
    if (known) return known;
    const { target, names } = this.#linkAt(path)!;
    let at = parentOf(path);
    let hops = 0;
    for (const name of names) {
      if (++this.#stepCount > this.#stepCountMax) {
        refuse(`it is a bomb: its links have more than ${this.#stepCountMax} names to follow`);
      }
      if (name === '..') {
        if (at === '') refuse(`the link ${arrow(path, target)} leads out of the root`);
        at = parentOf(at);
        continue;
      }
      at = at === '' ? name : `${at}/${name}`;
      if (at.length > WALKED_LENGTH_MAX) refuse(`the link ${arrow(path, target)} leads too deep`);
      if (!this.#linkAt(at)) continue;
      // Deeper than so many links, there are at least as many on the way.
      const inner = depth < HOPS_MAX ? this.#resolve(at, depth + 1) : undefined;
      hops += 1 + (inner?.hops ?? HOPS_MAX);
      if (!inner || hops > HOPS_MAX) {
        refuse(`the link ${arrow(path, target)} goes round in circles`);
      }
      at = inner.at;
    }
    const resolved = { at, hops };
    this.#resolved.set(path, resolved);
    return resolved;
  }
}

function arrow(path: string, target: string): string {
  return `'${path}' → '${clipped(target)}'`;
}

function clipped(text: string): string {
  return text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
}

function parentOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at < 0 ? '' : path.slice(0, at);
}

/**
 * Hints between processes of one host: a byte is written into a small file beside the store, and
 * whoever watches that file looks for work. One file for each kind of hint, so that nothing has to be
 * read. A burst is one write at once and one at its end. Nothing depends on a hint arriving: every
 * failure here is silence, and the claimer's own polling finds what was missed.
 */
import { closeSync, type FSWatcher, openSync, watch, writeSync } from 'node:fs';
import type { Cancel, Clock } from '../../ground/index.ts';
import type { Hint } from '../store.ts';
import type { Place } from './place.ts';

/** At most one write of a kind in this time. */
const HINT_MS_MIN = 10;

export class Hints {
  readonly #files: Readonly<Record<Hint, string>>;
  readonly #clock: Clock;
  readonly #open = new Map<Hint, number>();
  /** While there is an entry a hint has been given lately; true where another is owed. */
  readonly #lately = new Map<Hint, { isOwed: boolean; readonly cancel: Cancel }>();
  readonly #watchers = new Set<FSWatcher>();

  constructor(place: Place, clock: Clock) {
    this.#files = { ready: place.readyHint, ended: place.endedHint };
    this.#clock = clock;
  }

  give(hint: Hint): void {
    const lately = this.#lately.get(hint);
    if (lately) {
      lately.isOwed = true;
      return;
    }
    this.#write(hint);
    const cancel = this.#clock.after(HINT_MS_MIN, () => this.#settle(hint), { idle: true });
    this.#lately.set(hint, { isOwed: false, cancel });
  }

  /** Undefined where files cannot be watched here. */
  listen(onHint: (hint: Hint) => void): (() => void) | undefined {
    const watchers: FSWatcher[] = [];
    const stop = () => {
      for (const watcher of watchers) {
        watcher.close();
        this.#watchers.delete(watcher);
      }
    };
    try {
      for (const hint of ['ready', 'ended'] as const) {
        const watcher = watch(this.#files[hint], { persistent: false }, () => onHint(hint));
        watcher.on('error', stop);
        watchers.push(watcher);
        this.#watchers.add(watcher);
      }
      return stop;
    } catch {
      stop();
      return undefined;
    }
  }

  close(): void {
    for (const [hint, { isOwed, cancel }] of this.#lately) {
      cancel();
      if (isOwed) this.#write(hint);
    }
    this.#lately.clear();
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers.clear();
    for (const fd of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }

  #settle(hint: Hint): void {
    const isOwed = this.#lately.get(hint)?.isOwed ?? false;
    this.#lately.delete(hint);
    if (isOwed) this.give(hint);
  }

  #write(hint: Hint): void {
    try {
      const fd = this.#open.get(hint) ?? openSync(this.#files[hint], 'r+');
      this.#open.set(hint, fd);
      writeSync(fd, '.', 0);
    } catch {
      // On a full or read-only disk there are no hints.
    }
  }
}

/**
 * Tells when the code of the machines has changed and has come to rest: files of the directory, and what
 * they import. It looks, and is not told: editors replace files, and mounts of containers tell nothing.
 */
import type { Cancel, Clock } from '../../ground/index.ts';
import { Imports } from './imports.ts';

export interface WatcherPorts {
  readonly clock: Clock;
  /** The files that hold machines now; throws where they cannot be listed, which may pass. */
  readonly files: () => readonly string[];
  /** Called with what has changed, once that has stood still between two looks. */
  readonly onChange: (files: readonly string[]) => void;
}

const LOOK_EVERY_MS = 200;
const FILES_MAX = 2_000;

export class Watcher {
  readonly #ports: WatcherPorts;
  readonly #imports = new Imports();
  /** What was told last, and what was seen last. */
  #told: ReadonlyMap<string, string> | undefined;
  #seen: ReadonlyMap<string, string> | undefined;
  #cancel: Cancel | undefined;

  constructor(ports: WatcherPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#told = this.#look();
    this.#seen = this.#told;
    this.#again();
  }

  stop(): void {
    this.#cancel?.();
  }

  /** One look; the clock calls it. */
  look(): void {
    const found = this.#look();
    if (!found) return;
    const isAtRest = this.#seen !== undefined && differing(this.#seen, found).length === 0;
    this.#seen = found;
    if (!isAtRest) return;
    const changed = this.#told ? differing(this.#told, found) : [];
    this.#told = found;
    if (changed.length > 0) this.#ports.onChange(changed);
  }

  #again(): void {
    this.#cancel = this.#ports.clock.after(
      LOOK_EVERY_MS,
      () => {
        this.look();
        this.#again();
      },
      { idle: true },
    );
  }

  #look(): ReadonlyMap<string, string> | undefined {
    try {
      return this.#imports.from(this.#ports.files(), FILES_MAX);
    } catch {
      return undefined;
    }
  }
}

/** Changed, new, or gone. */
function differing(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): string[] {
  const all = new Set([...one.keys(), ...other.keys()]);
  return [...all].filter((file) => one.get(file) !== other.get(file)).sort();
}

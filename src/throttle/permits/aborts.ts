/**
 * Tells those who wait that their signal was aborted. One listener for all who wait by the same signal: a
 * phase may call an API as often at once as it likes, and Node takes more than ten listeners for a leak.
 */
class Aborts {
  readonly #signal: AbortSignal;
  readonly #tells = new Set<() => void>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  add(tell: () => void): void {
    if (this.#tells.size === 0) this.#signal.addEventListener('abort', this.#tellAll);
    this.#tells.add(tell);
  }

  /** A signal that is listened to is never forgotten: with the last who waits the listener goes, too. */
  delete(tell: () => void): void {
    if (!this.#tells.delete(tell) || this.#tells.size > 0) return;
    this.#signal.removeEventListener('abort', this.#tellAll);
  }

  readonly #tellAll = (): void => {
    for (const tell of [...this.#tells]) tell();
  };
}

const BY_SIGNAL = new WeakMap<AbortSignal, Aborts>();

/** Calls `tell` once `signal` is aborted. Answers how to stop that. */
export function onceAborted(signal: AbortSignal, tell: () => void): () => void {
  const aborts = BY_SIGNAL.get(signal) ?? new Aborts(signal);
  BY_SIGNAL.set(signal, aborts);
  aborts.add(tell);
  return () => aborts.delete(tell);
}

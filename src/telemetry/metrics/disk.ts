/**
 * How large the journal is, and how much room its disk has. A disk may take its time to answer, and
 * whoever asks for metrics does not wait for it: what is shown was looked up when they asked before.
 */
import { stat, statfs } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import { placeOf } from '../../journal/index.ts';
import { showGauge } from './cells.ts';

export class DiskLook {
  #bytes: number | undefined;
  #freeBytes: number | undefined;
  #isLooking = false;

  constructor(registry: Registry) {
    const one = (value: number | undefined) => (value === undefined ? [] : [{ value }]);
    showGauge('fleetq_journal_bytes', registry, () => one(this.#bytes));
    showGauge('fleetq_journal_disk_free_bytes', registry, () => one(this.#freeBytes));
  }

  /** Whether there is anything to show yet. */
  get hasLooked(): boolean {
    return this.#bytes !== undefined;
  }

  /** Resolves when it has; never twice at a time. */
  async look(dataDir: string): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { directory, journal } = placeOf(dataDir);
      const files = [journal, `${journal}-wal`];
      const sizes = await Promise.all(
        files.map((file) =>
          stat(file).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      );
      const { bavail, bsize } = await statfs(directory);
      this.#bytes = sizes.reduce((sum, size) => sum + size, 0);
      this.#freeBytes = bavail * bsize;
    } catch {
      // The directory may be gone, and then so are its figures.
      this.#bytes = undefined;
      this.#freeBytes = undefined;
    } finally {
      this.#isLooking = false;
    }
  }
}

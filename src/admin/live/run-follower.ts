/** One run's records on their own, each under its number, until the run has ended. */
import type { RunId } from '../../ground/index.ts';
import type { Position } from './cursor.ts';
import { ANY_HASH, type RunLine } from './line.ts';
import type { Follower } from './lines.ts';
import { eventText, type Outlet } from './outlet.ts';
import type { View } from './sources.ts';

export class RunFollower implements Follower {
  readonly isExact = true;
  readonly outlet: Outlet;
  readonly #view: View;
  #position: Position;

  constructor(outlet: Outlet, view: View, afterSeq: number) {
    this.outlet = outlet;
    this.#view = view;
    // Only its number is known: it is believed, as long as there is such a record.
    const hash = afterSeq < 0 ? '' : ANY_HASH;
    this.#position = { generation: 0, epoch: Number.MAX_SAFE_INTEGER, seq: afterSeq, hash };
  }

  get isFull(): boolean {
    return this.outlet.isFull;
  }

  position(_run: RunId): Position {
    return this.#position;
  }

  flow(line: RunLine): boolean {
    if (this.#position.generation === 0) {
      this.#position = { ...this.#position, generation: line.generation };
    }
    while (!this.outlet.isFull) {
      const step = line.after(this.#position);
      if (step.kind === 'look') return true;
      if (step.kind === 'tell') {
        this.#position = step.position;
        const { seq } = step.record;
        this.outlet.write(eventText('record', this.#view.record(step.record), `${seq}`));
        continue;
      }
      if (step.kind === 'wait' && !line.hasEnded) return false;
      // What comes now has other numbers; or there is nothing to come.
      this.outlet.end(step.kind === 'wait' ? eventText('end', {}) : undefined);
      return false;
    }
    return false;
  }

  /** Damaged or pruned meanwhile: the stream ends, and whoever asks again is told why. */
  broken(): void {
    this.outlet.end();
  }
}

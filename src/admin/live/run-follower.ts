/** One run's records on their own, each under its place, until the run has ended. */
import type { RunId } from '../../ground/index.ts';
import type { Position } from './cursor.ts';
import { ANY_HASH, type RunLine } from './line.ts';
import type { Follower } from './lines.ts';
import { eventText, type Outlet } from './outlet.ts';
import type { View } from './sources.ts';

const COUNT = /^\d{1,15}$/;

/** As the `id` of an event says it, or by its number alone, which is believed; undefined otherwise. */
export function placeIn(id: string): Position | undefined {
  if (COUNT.test(id)) return numbered(Number(id));
  const [generation = '', epoch = '', seq = '', hash = '', ...rest] = id.split('.');
  const isOurs = [generation, epoch, seq].every((count) => COUNT.test(count));
  if (!isOurs || rest.length > 0 || !/^[\da-f]{1,32}$/.test(hash)) return undefined;
  return { generation: Number(generation), epoch: Number(epoch), seq: Number(seq), hash };
}

/** Only its number is known: it is believed, as long as there is such a record. */
export function numbered(seq: number): Position {
  const hash = seq < 0 ? '' : ANY_HASH;
  return { generation: 0, epoch: Number.MAX_SAFE_INTEGER, seq, hash };
}

function idOf({ generation, epoch, seq, hash }: Position): string {
  return `${generation}.${epoch}.${seq}.${hash}`;
}

export class RunFollower implements Follower {
  readonly isExact = true;
  readonly outlet: Outlet;
  readonly #view: View;
  #position: Position;
  #hasTold = false;

  constructor(outlet: Outlet, view: View, from: Position) {
    this.outlet = outlet;
    this.#view = view;
    this.#position = from;
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
        this.#hasTold = true;
        const told = this.#view.record(step.record);
        this.outlet.write(eventText('record', told, idOf(step.position)));
        continue;
      }
      if (step.kind === 'rewind' && !this.#hasTold) {
        // Who comes back with records that count no more is told so, and has the others next.
        this.#position = step.to;
        const { generation, seq: after } = step.to;
        this.outlet.write(eventText('rewind', { generation, after, why: step.why }));
        continue;
      }
      if (step.kind === 'wait' && !line.hasEnded) return false;
      // What comes now has other numbers; or there is nothing to come.
      this.outlet.end(step.kind === 'wait' ? eventText('end', {}) : undefined);
      return false;
    }
    return false;
  }

  bye(_why: 'draining' | 'session'): void {
    this.outlet.end();
  }

  /** Damaged or pruned meanwhile: the stream ends, and whoever asks again is told why. */
  broken(): void {
    this.outlet.end();
  }
}

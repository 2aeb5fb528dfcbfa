/**
 * Lets go of what this disk still has of runs that the store has in full. Where somebody tells of runs
 * elsewhere, that is a little later: should this process die meanwhile, the next one on this disk can
 * still say what this one had no time to.
 */
import type { Engine } from '../engine/index.ts';
import type { Clock, RunId } from '../ground/index.ts';
import { isHeard } from '../telemetry/events.ts';
import type { Holdings } from './holdings.ts';

/** Several times as long as whoever tells of runs waits before it does. */
const KEPT_MS = 3_000;

export interface ForgetterPorts {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly holdings: Pick<Holdings, 'get'>;
  /** Another life of this pod may have them by now. */
  readonly isOver: () => boolean;
}

export class Forgetter {
  readonly #ports: ForgetterPorts;

  constructor(ports: ForgetterPorts) {
    this.#ports = ports;
  }

  forget(runs: readonly RunId[]): void {
    const { clock, engine, holdings, isOver } = this.#ports;
    // The same task may be in hand again: what is on the disk then is that.
    const forget = () => engine.held.forget(runs.filter((run) => !holdings.get(run)));
    if (!isHeard('run.left') || runs.length === 0) return forget();
    clock.after(KEPT_MS, () => isOver() || forget(), { idle: true });
  }
}

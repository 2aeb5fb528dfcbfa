/**
 * Brings new code to the pods of `fleetq dev`, one after the other, each by a handover: while one
 * changes, the others go on. Where the first cannot begin with it, nothing was changed. Code that is
 * saved meanwhile begins a new round, so that all end up with what was saved last.
 */
import type { Clock } from '../../ground/index.ts';
import type { HandoverEnd } from '../worker/supervisor.ts';
import type { DevEvent } from './story.ts';

export interface ReloaderPorts {
  readonly clock: Clock;
  readonly pods: readonly string[];
  readonly handOver: (pod: string) => Promise<HandoverEnd>;
  readonly tell: (event: DevEvent) => void;
}

export class Reloader {
  readonly #ports: ReloaderPorts;
  #wanted = 0;
  #isAtIt = false;
  #isStopped = false;

  constructor(ports: ReloaderPorts) {
    this.#ports = ports;
  }

  /** There is other code; without files somebody wants a handover all the same. */
  want(files: readonly string[]): void {
    if (this.#isStopped) return;
    this.#wanted += 1;
    this.#ports.tell({ kind: 'changed', files });
    if (!this.#isAtIt) void this.#roll();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #roll(): Promise<void> {
    this.#isAtIt = true;
    let done = 0;
    while (done !== this.#wanted && !this.#isStopped) {
      done = this.#wanted;
      await this.#round(done);
    }
    this.#isAtIt = false;
  }

  async #round(number: number): Promise<void> {
    const { clock, pods, handOver, tell } = this.#ports;
    const begunMs = clock.monotonicMs();
    for (const [index, pod] of pods.entries()) {
      const end = await handOver(pod);
      if (this.#isStopped) return;
      if (end.kind === 'failed') return tell({ kind: 'kept', pod, why: end.why, count: index });
      // Whatever was saved while this one changed is for all of them.
      if (number !== this.#wanted) return;
    }
    tell({ kind: 'reloaded', pods: pods.length, afterMs: clock.monotonicMs() - begunMs });
  }
}

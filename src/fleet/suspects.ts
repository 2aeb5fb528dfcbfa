/**
 * Tasks that have outlived two owners get a process of their own: if such a task kills it too, nobody
 * else is harmed. This process only watches: it starts one when a suspect is due, and says at once
 * that it is dead when it has died, so that nobody has to wait for its silence.
 */
import { type Clock, describeError } from '../ground/index.ts';
import type { PodId, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { fenceProven } from './fence-proven.ts';

/** A process that executes suspects, one at a time, and ends when there is none. */
export interface SuspectProcess {
  /** The pods it has been; they are dead once it has ended. */
  readonly pods: ReadonlySet<string>;
  /** Rejects where it could not be started. */
  readonly ended: Promise<void>;
  /** Asks it to drain. */
  stop(): void;
}

export interface SuspectsPorts {
  readonly store: Pick<Store, 'hasSuspects' | 'fence'>;
  readonly clock: Clock;
  readonly routes: readonly string[];
  readonly self: () => PodId | undefined;
  /** Undefined where this program cannot start another that has its machines. */
  readonly begin: (() => SuspectProcess) | undefined;
}

const LOOK_MS = 2_000;
const FENCE_MS = 15_000;

export class Suspects {
  readonly #ports: SuspectsPorts;
  #process: SuspectProcess | undefined;
  #isLooking = false;
  #isStopped = false;
  #isUnattendedTold = false;
  #lookedMs = Number.NEGATIVE_INFINITY;

  constructor(ports: SuspectsPorts) {
    this.#ports = ports;
  }

  /** After every heartbeat. */
  look(): void {
    const nowMs = this.#ports.clock.monotonicMs();
    if (this.#isStopped || this.#process || this.#isLooking) return;
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    this.#lookedMs = nowMs;
    this.#isLooking = true;
    this.#lookOnce()
      .catch((error) =>
        tell('store.failed', () => ({ what: 'hasSuspects', error: describeError(error) })),
      )
      .finally(() => {
        this.#isLooking = false;
      });
  }

  stop(): void {
    this.#isStopped = true;
    this.#process?.stop();
  }

  async #lookOnce(): Promise<void> {
    const { store, routes, begin } = this.#ports;
    if (!(await store.hasSuspects(routes)) || this.#isStopped) return;
    if (!begin) return this.#tellUnattended();
    const started = begin();
    this.#process = started;
    tell('suspects.started', () => ({}));
    started.ended
      .catch((error) => tell('suspects.failed', () => ({ error: describeError(error) })))
      .then(() => this.#ended(started))
      .catch((error) =>
        tell('store.failed', () => ({ what: 'fence', error: describeError(error) })),
      );
  }

  /** Its own word is enough where it drained; where it died, ours is. */
  async #ended({ pods }: SuspectProcess): Promise<void> {
    this.#process = undefined;
    // A process that never was a pod would come to nothing again at once.
    if (pods.size > 0) this.#lookedMs = Number.NEGATIVE_INFINITY;
    const self = this.#ports.self();
    if (self === undefined) return;
    const { store, clock } = this.#ports;
    for (const pod of pods) {
      await fenceProven(pod as PodId, { store, clock, by: self, budgetMs: FENCE_MS });
    }
  }

  #tellUnattended(): void {
    if (this.#isUnattendedTold) return;
    this.#isUnattendedTold = true;
    tell('suspects.unattended', () => ({}));
  }
}

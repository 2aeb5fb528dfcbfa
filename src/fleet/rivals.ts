/**
 * Other processes that have this pod's journal: on a clone of its volume, or on a disk that was moved while
 * its process lived on. Of two such processes the one whose heartbeat the store takes goes on. The other
 * takes nothing, starts nothing and spends no task until the first is gone, however often it is restarted.
 */
import { type Clock, describeError, FleetqError, pause } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import type { JournalSeen, PodId, PodRow, PodStatus, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { JournalElsewhereError } from './errors.ts';
import type { Life } from './life.ts';
import type { PodTimes } from './options.ts';

export interface RivalsPorts {
  readonly store: Pick<Store, 'pods'>;
  readonly journal: Pick<Journal, 'id' | 'provesDead'>;
  readonly clock: Clock;
  readonly times: PodTimes;
}

export class Rivals {
  readonly #ports: RivalsPorts;
  /** One was found while runs go on here: they have to stop. */
  readonly #onFound: () => void;
  #isStopped = false;
  #isTold = false;

  constructor(ports: RivalsPorts, onFound: () => void) {
    this.#ports = ports;
    this.#onFound = onFound;
  }

  /** Resolves when no other process may live with this journal, or the store cannot say. */
  async gone(): Promise<void> {
    const { clock, times } = this.#ports;
    let seen: PodRow | undefined;
    while (!this.#isStopped) {
      const rival = await this.#ask();
      if (!rival) return;
      if (seen?.pod === rival.pod && seen.seq !== rival.seq) this.#tell(rival);
      seen = rival;
      await pause(clock, times.heartbeatMs);
    }
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Throws, and ends this life, where a process has the journal that was there before it. */
  async refuse(life: Life, { pods }: JournalSeen): Promise<void> {
    const { journal } = this.#ports;
    if (!pods.some((pod) => isUp(pod) && !journal.provesDead(pod.pod))) return;
    const rival = await this.#find(life.id);
    if (!rival) return;
    this.#tell(rival);
    await life.end(0).catch(() => life.abandon());
    this.#onFound();
    throw new JournalElsewhereError(journal.id, rival.pod, rival.name);
  }

  /** While the store is away the runs of this host go on: a clone cannot be told from its original. */
  async #ask(): Promise<PodRow | undefined> {
    try {
      return await this.#find();
    } catch (error) {
      if (!(error instanceof FleetqError) || error.verdict !== 'retry') throw error;
      tell('store.failed', () => ({ what: 'pods', error: describeError(error) }));
      return undefined;
    }
  }

  /** The oldest that is up, was heard of lately, and that nothing here proves dead. */
  async #find(before?: PodId): Promise<PodRow | undefined> {
    const { store, journal, times } = this.#ports;
    for (const row of await store.pods()) {
      if (row.pod === before) return undefined;
      const isHeard = row.silentMs < (row.silenceMs ?? times.silentMs);
      if (row.journal !== journal.id || !isUp(row) || !isHeard) continue;
      if (!journal.provesDead(row.pod)) return row;
    }
    return undefined;
  }

  #tell({ pod, name }: PodRow): void {
    if (this.#isTold) return;
    this.#isTold = true;
    // What probes and logs say is the alarm's message alone: it has to name the way out as well.
    const { message, hint } = new JournalElsewhereError(this.#ports.journal.id, pod, name);
    tell('journal.alarm', () => ({ kind: 'elsewhere', message: `${message}; ${hint}` }));
  }
}

function isUp({ status }: { readonly status: PodStatus }): boolean {
  return status === 'up' || status === 'draining';
}

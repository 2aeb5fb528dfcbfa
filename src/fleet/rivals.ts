/**
 * Other processes that have this pod's journal: on a clone of its volume, or on a disk that was moved while
 * its process lived on. Of two such processes the one whose heartbeat the store takes goes on. The one that
 * saw it beat stops for good: it takes nothing, starts nothing and spends no task, however often it is
 * restarted, until a person adopts the journal.
 */
import { type Clock, describeError, pause } from '../ground/index.ts';
import type { Journal, Rival } from '../journal/index.ts';
import type { JournalSeen, PodGlimpse, PodId, PodRow, PodStatus, Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { isPassing, JournalElsewhereError } from './errors.ts';
import type { Life } from './life.ts';
import type { PodTimes } from './options.ts';

export interface RivalsPorts {
  readonly store: Pick<Store, 'pods'>;
  readonly journal: Pick<Journal, 'id' | 'owners'>;
  readonly clock: Clock;
  readonly times: PodTimes;
}

export class Rivals {
  readonly #ports: RivalsPorts;
  #isStopped = false;
  /** Each is reported once. */
  #reportedRival = '';
  #reportedWait = '';

  constructor(ports: RivalsPorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when no other process may live with this journal, or the store cannot say; never where one was
   * seen at work with it, now or before. True where it was elsewhere before: more processes than this one may
   * find it free at the same moment.
   */
  async gone(): Promise<boolean> {
    const { journal, clock, times } = this.#ports;
    let seen: PodRow | undefined;
    if (journal.owners.rival) this.#reportRival(journal.owners.rival);
    while (!this.#isStopped) {
      const elsewhere = await this.#ask();
      const rival = elsewhere.find((row) => this.#isHeard(row));
      if (!rival && !journal.owners.rival) return elsewhere.length > 0;
      if (rival && seen?.pod === rival.pod) {
        if (seen.seq !== rival.seq) this.#stopFor(rival);
        else if (!journal.owners.rival) this.#reportWait(rival);
      }
      seen = rival;
      await pause(clock, times.heartbeatMs);
    }
    return false;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Throws, and ends this life, where a process has the journal that registered before it. */
  async refuse(life: Life, seen: JournalSeen, onFound?: () => void): Promise<void> {
    const { store } = this.#ports;
    if (this.#livesBefore(seen).length === 0) return;
    const rows = await store.pods();
    const own = rows.findIndex(({ pod }) => pod === life.id);
    const before = own < 0 ? rows : rows.slice(0, own);
    const rival = this.#elsewhere(before).find((row) => this.#isHeard(row));
    if (rival) await this.#yieldTo(rival, life, onFound);
  }

  /**
   * Resolves when no pod that registered before this one is up any more. A pod that beats ends this life, and
   * this throws. A silent pod is waited for until it was swept: after an outage of the store all are silent.
   */
  async outlast(life: Life, seen: JournalSeen, onFound: () => void): Promise<void> {
    const { clock, times } = this.#ports;
    const before = this.#livesBefore(seen);
    const seqs = new Map<PodId, number>();
    while (!life.isDead) {
      const up = life.watch.fleet.filter((one) => isUp(one) && before.includes(one.pod));
      if (up.length === 0) return;
      for (const rival of up) {
        const seq = seqs.get(rival.pod) ?? rival.seq;
        if (rival.seq !== seq) await this.#yieldTo(rival, life, onFound);
        if (seqs.has(rival.pod)) this.#reportWait(rival);
        seqs.set(rival.pod, seq);
      }
      await pause(clock, times.heartbeatMs);
    }
  }

  async #yieldTo(rival: PodGlimpse, life: Life, onFound?: () => void): Promise<never> {
    this.#stopFor(rival);
    await life.end(0).catch(() => life.abandon());
    onFound?.();
    throw new JournalElsewhereError(this.#ports.journal.id, rival.pod, rival.name);
  }

  /** Pods with this journal that nothing here proves dead. */
  #livesBefore({ pods }: JournalSeen): PodId[] {
    const { journal } = this.#ports;
    return pods
      .filter((pod) => isUp(pod) && !journal.owners.provesDead(pod.pod))
      .map(({ pod }) => pod);
  }

  /** While the store is away the runs of this host go on: a clone cannot be told from its original. */
  async #ask(): Promise<PodRow[]> {
    try {
      return this.#elsewhere(await this.#ports.store.pods());
    } catch (error) {
      if (!isPassing(error)) throw error;
      tell('store.failed', () => ({ what: 'pods', error: describeError(error) }));
      return [];
    }
  }

  /** Lives of this journal that nothing here proves dead, oldest first. */
  #elsewhere(rows: readonly PodRow[]): PodRow[] {
    const { journal } = this.#ports;
    return rows.filter((row) => row.journal === journal.id && !journal.owners.provesDead(row.pod));
  }

  #isHeard(row: PodRow): boolean {
    return isUp(row) && row.silentMs < (row.silenceMs ?? this.#ports.times.silentMs);
  }

  /** It beats, so this process is the one that stops for good: nothing goes on here by itself any more. */
  #stopFor({ pod, name }: PodGlimpse): void {
    this.#ports.journal.owners.noteRival({ pod, name });
    this.#reportRival({ pod, name });
  }

  #reportRival({ pod, name }: Rival): void {
    if (this.#reportedRival === pod) return;
    this.#reportedRival = pod;
    // What probes and logs say is the alarm's message alone: it has to name the way out as well.
    const { message, hint } = new JournalElsewhereError(this.#ports.journal.id, pod, name);
    tell('journal.alarm', () => ({ kind: 'elsewhere', message: `${message}; ${hint}` }));
  }

  #reportWait({ pod, name }: PodGlimpse): void {
    if (this.#reportedWait === pod) return;
    this.#reportedWait = pod;
    tell('pod.awaited', () => ({ journal: this.#ports.journal.id, pod, name }));
  }
}

function isUp({ status }: { readonly status: PodStatus }): boolean {
  return status === 'up' || status === 'draining';
}

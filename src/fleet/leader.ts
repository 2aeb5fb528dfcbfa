/**
 * What falls to the oldest pod that can act: it starts the recovery machines when there is something to
 * recover. Where it does not act, the next one sweeps. Nothing depends on there being exactly one leader;
 * two of them find each other's work done.
 */
import { type Cancel, type Clock, describeError } from '../ground/index.ts';
import type { Chore } from '../machine/index.ts';
import type { PodId } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Life } from './life.ts';

export interface LeaderPorts {
  readonly clock: Clock;
  /** Remembers that the pod leads, for people; `term` counts how often it has begun to. */
  readonly begin: (pod: PodId, term: number) => Promise<void>;
  /** Runs the machine on this journal to its end; true where it has left something to do. */
  readonly run: (chore: Chore, pod: string) => Promise<boolean>;
  /** Whether a timer that is due would find anything to do: nothing is started for nothing. */
  readonly hasWork: (chore: Chore) => Promise<boolean>;
  readonly reconcileMs: number;
  readonly retentionMs: number;
}

/** Whether it leads for all it knows, and it knows enough: one that nobody hears leads nobody. */
export function isLeading(life: Life): boolean {
  return life.watch.leader === life.id && life.isCurrent() && !life.isDraining;
}

export class Leader {
  readonly #ports: LeaderPorts;
  readonly #running = new Set<Chore>();
  readonly #lastMs = new Map<Chore, number>();
  #cancel: Cancel | undefined;
  #leadsAs: string | undefined;
  #term = 0;
  /** The last term that the store knows of. */
  #toldTerm = 0;
  #isTelling = false;

  constructor(ports: LeaderPorts) {
    this.#ports = ports;
  }

  /** After every heartbeat, and by its own timer the moment a silence is full. */
  look(life: Life): void {
    this.#cancel?.();
    const nowMs = this.#ports.clock.monotonicMs();
    const { watch } = life;
    this.#tellChange(life, watch.leader === life.id);
    if (!watch.isSteady(nowMs) || life.isDraining || life.isDead) return;
    const isDead = watch.fleet.some(({ status }) => status === 'dead');
    const isMissing = isDead || watch.silent(nowMs).length > 0;
    if (isMissing && watch.isTurnOf(life.id, nowMs)) this.#start('recovery/sweep', life);
    if (watch.leader !== life.id) return;
    this.#tellTerm(life);
    // Claims may outlive their pods where somebody meddled: no heartbeat tells of those.
    this.#startAfter('recovery/sweep', this.#ports.reconcileMs, life);
    this.#startAfter('recovery/reconcile', this.#ports.reconcileMs, life);
    this.#startAfter('recovery/retention', this.#ports.retentionMs, life);
    const leftMs = watch.nextSilenceMs(nowMs);
    if (leftMs === undefined) return;
    const look = () => this.look(life);
    this.#cancel = this.#ports.clock.after(leftMs + 1, look, { idle: true });
  }

  stop(): void {
    this.#cancel?.();
  }

  #tellChange(life: Life, isLeader: boolean): void {
    const leadsAs = isLeader ? life.id : undefined;
    if (leadsAs === this.#leadsAs) return;
    this.#leadsAs = leadsAs;
    if (isLeader) this.#term += 1;
    tell('leader.changed', () => ({ pod: life.id, isLeader, leader: life.watch.leader }));
  }

  /** For people alone: where the store does not answer, the next look tells it again. */
  #tellTerm(life: Life): void {
    const term = this.#term;
    if (this.#isTelling || this.#toldTerm === term) return;
    this.#isTelling = true;
    this.#ports
      .begin(life.id, term)
      .then(
        () => {
          this.#toldTerm = term;
        },
        () => undefined,
      )
      .finally(() => {
        this.#isTelling = false;
      });
  }

  #startAfter(chore: Chore, everyMs: number, life: Life): void {
    const nowMs = this.#ports.clock.monotonicMs();
    const lastMs = this.#lastMs.get(chore) ?? Number.NEGATIVE_INFINITY;
    if (nowMs - lastMs < everyMs) return;
    this.#lastMs.set(chore, nowMs);
    this.#act(chore, async () => {
      let isMore = await this.#ports.hasWork(chore);
      while (isMore && isLeading(life)) isMore = await this.#ports.run(chore, life.id);
    });
  }

  #start(chore: Chore, life: Life): void {
    this.#act(chore, async () => {
      await this.#ports.run(chore, life.id);
    });
  }

  #act(chore: Chore, act: () => Promise<void>): void {
    if (this.#running.has(chore)) return;
    this.#running.add(chore);
    act()
      .catch((error) => tell('recovery.failed', () => ({ chore, error: describeError(error) })))
      .finally(() => this.#running.delete(chore));
  }
}

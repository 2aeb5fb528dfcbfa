/**
 * Feeds the engine: takes due tasks in batches of what the pod's capacity leaves, as long as it may.
 * Nobody tells it to; a hint only makes it look sooner than its ladder would.
 */
import { type Cancel, type Clock, describeError, type Random } from '../ground/index.ts';
import { type ClaimedTask, type ClaimRequest, routeOf, type Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { Ladder } from './ladder.ts';

const BATCH_COUNT_MAX = 500;
/** Shortly after a claim, fewer free places than this are not worth a statement of their own. */
const WORTHWHILE_SHARE = 0.25;
const GATHER_MS = 50;
/** After a place was freed: what is freed with it, or right after it, goes into the same statement. */
const SETTLE_DOWN_MS = 5;
/** Of routes that are asked for by turns, so many in a row may have nothing before that is found idle. */
const VAIN_COUNT_MAX = 8;
/** Whoever has no room is told when there is some. This is for what nobody tells: a disk that works
 *  again, records that have reached the store. */
const CROWDED_MS = 1_000;

export interface ClaimerPorts {
  readonly store: Pick<Store, 'claim'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly idlePollMs: number;
  readonly request: () => Omit<ClaimRequest, 'countMax' | 'token'>;
  /** Which routes to ask for now, and how much of them at most. */
  readonly slice?:
    | ((
        routes: readonly string[],
        countMax: number,
      ) => { readonly routes: readonly string[]; readonly countMax: number; readonly of: number })
    | undefined;
  /** How many more runs may be in hand; 0 where the pod may not claim now. */
  readonly room: () => number;
  readonly capacity: () => number;
  readonly accept: (tasks: readonly ClaimedTask[]) => Promise<void>;
}

export class Claimer {
  readonly #ports: ClaimerPorts;
  readonly #ladder: Ladder;
  #cancel: Cancel | undefined;
  #claiming: Promise<void> | undefined;
  #isStopped = true;
  #isHinted = false;
  /** The next look is far off, since there is no room, or too little. */
  #isCrowded = false;
  #claimedMs = Number.NEGATIVE_INFINITY;
  /** So many turns in a row had less than was asked for. */
  #vain = 0;
  /** Of each route, the queue that the last claim ended with. */
  readonly #behind = new Map<string, string>();

  constructor(ports: ClaimerPorts) {
    this.#ports = ports;
    this.#ladder = new Ladder(ports.idlePollMs);
  }

  start(): void {
    this.#isStopped = false;
    if (!this.#claiming) this.#claimAfter(0);
  }

  /** Resolves when no claim is on its way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#claiming;
  }

  /** Runs `act` while no claim is on its way, so that no answer is still to come. */
  async exclusively(act: () => Promise<void>): Promise<void> {
    while (this.#claiming) await this.#claiming;
    this.#cancel?.();
    this.#claiming = act().finally(() => {
      this.#claiming = undefined;
      this.#claimAfter(0);
    });
    await this.#claiming;
  }

  /** Something may be ready: looks at once, or right after the look that is under way. */
  hint(): void {
    this.#isHinted = true;
    this.#ladder.reset();
    if (!this.#claiming) this.#claimAfter(0);
  }

  /** There may be room again. */
  roomed(): void {
    if (!this.#isCrowded || this.#claiming || this.#ports.room() <= 0) return;
    this.#isCrowded = false;
    this.#claimAfter(SETTLE_DOWN_MS);
  }

  #claimAfter(ms: number): void {
    if (this.#isStopped) return;
    this.#cancel?.();
    this.#cancel = this.#ports.clock.after(ms, () => {
      const crowdedMs = this.#crowdedMs();
      this.#isCrowded = crowdedMs !== undefined;
      if (crowdedMs !== undefined) return this.#claimAfter(crowdedMs);
      this.#claiming = this.#poll().then((waitMs) => {
        this.#claiming = undefined;
        this.#claimAfter(this.#isHinted ? Math.min(waitMs, SETTLE_DOWN_MS) : waitMs);
      });
    });
  }

  /** How long to leave it at that, unless places are freed; undefined where a claim is worth it. */
  #crowdedMs(): number | undefined {
    const { clock, room, capacity } = this.#ports;
    const free = room();
    if (free <= 0) return CROWDED_MS;
    const sinceMs = clock.monotonicMs() - this.#claimedMs;
    const isWorthwhile = free >= capacity() * WORTHWHILE_SHARE || sinceMs >= GATHER_MS;
    return isWorthwhile ? undefined : GATHER_MS - sinceMs;
  }

  /** Answers how long to wait before the next look. */
  async #poll(): Promise<number> {
    const { store, clock, random, room, accept } = this.#ports;
    const request = this.#ports.request();
    const most = Math.min(room(), BATCH_COUNT_MAX);
    const slice = this.#ports.slice?.(request.routes, most);
    const { routes, countMax: free, of } = slice ?? { ...request, countMax: most, of: 1 };
    this.#isHinted = false;
    this.#claimedMs = clock.monotonicMs();
    try {
      const token = random.hex(8);
      const tasks = await store.claim({
        ...request,
        routes,
        countMax: free,
        token,
        behind: this.#behind,
      });
      const elapsedMs = clock.monotonicMs() - this.#claimedMs;
      tell('claim.answered', () => ({ asked: free, got: tasks.length, elapsedMs }));
      for (const task of tasks) this.#behind.set(routeOf(task), task.queue);
      await accept(tasks);
      this.#vain = tasks.length === free ? 0 : this.#vain + 1;
      if (this.#vain === 0) return 0;
      if (tasks.length > 0) this.#ladder.reset();
      // The others have their turn next.
      if (this.#vain < Math.min(of, VAIN_COUNT_MAX)) return SETTLE_DOWN_MS;
      this.#vain = 0;
    } catch (error) {
      tell('store.failed', () => ({ what: 'claim', error: describeError(error) }));
    }
    const waitMs = this.#ladder.next(() => random.fraction());
    tell('claim.backedOff', () => ({ waitMs }));
    return waitMs;
  }
}

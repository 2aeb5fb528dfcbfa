/**
 * Feeds the engine: takes due tasks in batches of what the pod's capacity leaves, as long as it may.
 * It looks by itself; a notification only makes it look sooner than its ladder would.
 */
import { type Cancel, type Clock, describeError, type Random } from '../ground/index.ts';
import {
  type ClaimedTask,
  type ClaimRequest,
  remember,
  routeOf,
  type Store,
} from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { Ladder } from './ladder.ts';

const BATCH_COUNT_MAX = 500;
/** Shortly after a claim, fewer free places than this are not worth a statement of their own. */
const WORTHWHILE_SHARE = 0.25;
const GATHER_MS = 50;
/** After a place was freed, what is freed right after it goes into the same statement; and from one look to
 *  the next, what is notified meanwhile. */
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
  readonly request: () => Omit<ClaimRequest, 'countMax' | 'token' | 'isReserve'>;
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
  /** When the timer that is set runs out. */
  #dueMs = Number.POSITIVE_INFINITY;
  /** The next look is for what another pod was called for at once. */
  #isReserve = false;
  /** The next look waits for the rest of this turn of the loop. */
  #isSoon = false;
  /** By when another look is to follow the one that is under way. */
  #wantedMs = Number.POSITIVE_INFINITY;
  /** A notification has come since the last look: what is there did not come without one. */
  #isNotified = false;
  /** The next look is far off, since there is no room, or too little. */
  #isCrowded = false;
  #claimedMs = Number.NEGATIVE_INFINITY;
  /** So many turns in a row had less than was asked for. */
  #vain = 0;
  /** Of each route and priority, the queue that the last claim ended with. */
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
    this.#ladder.reset();
    this.notified(0);
  }

  /** The fleet was notified of something. This pod looks so much later; undefined: it is left to others. */
  notified(afterMs: number | undefined): void {
    this.#isNotified = true;
    if (afterMs === undefined) return;
    const { clock } = this.#ports;
    const dueMs = clock.monotonicMs() + afterMs;
    // Its answer may be older than what is ready.
    if (this.#claiming) this.#wantedMs = Math.min(this.#wantedMs, dueMs);
    else if (afterMs === 0) this.#lookSoon();
    // Any look until then finds it too.
    else if (dueMs < this.#dueMs) this.#claimAfter(afterMs, true);
  }

  /** There may be room again. */
  roomed(): void {
    if (!this.#isCrowded || this.#claiming || this.#ports.room() <= 0) return;
    this.#isCrowded = false;
    this.#claimAfter(SETTLE_DOWN_MS);
  }

  #claimAfter(ms: number, isReserve = false): void {
    if (this.#isStopped) return;
    const { clock } = this.#ports;
    this.#cancel?.();
    this.#isReserve = isReserve;
    this.#dueMs = clock.monotonicMs() + ms;
    this.#cancel = clock.after(ms, () => this.#look());
  }

  /** A timer would take a millisecond, and what is said in one turn of the loop takes one look. */
  #lookSoon(): void {
    if (this.#isStopped || this.#isSoon) return;
    this.#isSoon = true;
    this.#ports.clock.soon(() => {
      this.#isSoon = false;
      if (this.#isStopped || this.#claiming) return;
      this.#cancel?.();
      this.#isReserve = false;
      this.#look();
    });
  }

  #look(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    const crowdedMs = this.#crowdedMs();
    this.#isCrowded = crowdedMs !== undefined;
    if (crowdedMs !== undefined) return this.#claimAfter(crowdedMs);
    this.#claiming = this.#poll().then((waitMs) => {
      this.#claiming = undefined;
      const nowMs = this.#ports.clock.monotonicMs();
      const againMs = Math.max(this.#wantedMs, this.#claimedMs + SETTLE_DOWN_MS) - nowMs;
      this.#claimAfter(Math.max(0, Math.min(waitMs, againMs)));
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
    const [isNotified, isReserve] = [this.#isNotified, this.#isReserve];
    this.#isNotified = false;
    this.#wantedMs = Number.POSITIVE_INFINITY;
    this.#claimedMs = clock.monotonicMs();
    try {
      const token = random.hex(8);
      const asked = { ...request, routes, countMax: free, token, behind: this.#behind };
      const tasks = await store.claim(isReserve ? { ...asked, isReserve } : asked);
      const elapsedMs = clock.monotonicMs() - this.#claimedMs;
      tell('claim.answered', () => ({ asked: free, got: tasks.length, elapsedMs }));
      for (const task of tasks) {
        if (!task.isLimited) remember(this.#behind, { ...task, route: routeOf(task) });
      }
      await accept(tasks);
      this.#vain = tasks.length === free ? 0 : this.#vain + 1;
      if (this.#vain === 0) return 0;
      // What came without a notification may be followed by more that does.
      if (tasks.length > 0 && !isNotified) this.#ladder.reset();
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

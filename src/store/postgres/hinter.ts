/**
 * Notifies the fleet that something is ready or has ended. What comes singly goes out at once; under load
 * it is gathered, one notification in each quiet time. Each NOTIFY takes a lock of the whole server, so it
 * is a statement of its own, beside those that matter, and one that is lost is made good by the next look.
 */
import type { Cancel, Clock, Random } from '../../ground/index.ts';
import { joined, noticeOf, type PodGroup, type Ready, wordsOf } from '../notice.ts';
import type { Hint } from '../store.ts';
import { selectPodGroups } from './pod-health.sql.ts';
import type { Pool } from './pool.ts';
import { groupOf } from './rows.ts';
import { sql } from './sql.ts';

export const CHANNEL = 'fleetq_hint';
/** In the long run there is one notification of a kind in so long. */
const QUIET_MS = 20;
/** So many may go out before that: a trickle that comes unevenly is not held up. */
const BURST = 8;
/** Older than this, the pods that are up are asked for again beside the next notification. */
const PODS_MS = 2_000;
/** Older than this, no pod is named. */
const PODS_MS_MAX = 10_000;

/** $1 what is said. */
export const notify = sql`select pg_notify('${CHANNEL}', $1)`;

/** The same in a transaction of a caller's, whose lists come out of one JSON text: $1 a list of it. */
export const notifyOnCommit = sql`select pg_notify('${CHANNEL}', ($1::text[])[1])`;

export class Hinter {
  readonly #pool: Pick<Pool, 'query' | 'often'>;
  readonly #clock: Clock;
  readonly #random: Random;
  /** What is held, and until when the quiet times of what went out last. */
  readonly #kinds: Record<Hint, { held?: Ready; cancel?: Cancel | undefined; quietMs: number }> = {
    ready: { quietMs: 0 },
    ended: { quietMs: 0 },
  };
  #groups: readonly PodGroup[] = [];
  #groupsMs = Number.NEGATIVE_INFINITY;
  #askedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(pool: Pick<Pool, 'query' | 'often'>, clock: Clock, random: Random) {
    this.#pool = pool;
    this.#clock = clock;
    this.#random = random;
  }

  /** `ready`: as far as it is known what is. */
  hint(hint: Hint, ready: Ready = {}): void {
    if (this.#isClosed) return;
    const kind = this.#kinds[hint];
    kind.held = kind.held ? joined(kind.held, ready) : ready;
    if (kind.cancel) return;
    const waitMs = kind.quietMs - this.#clock.monotonicMs() - (BURST - 1) * QUIET_MS;
    if (waitMs <= 0) return this.#send(hint);
    kind.cancel = this.#clock.after(waitMs, () => this.#send(hint), { idle: true });
  }

  /** What a caller's transaction sends with `notifyOnCommit`. */
  wordsOnCommit(ready: Ready): string {
    return this.#words('ready', ready);
  }

  #send(hint: Hint): void {
    const kind = this.#kinds[hint];
    const { held = {} } = kind;
    delete kind.held;
    delete kind.cancel;
    kind.quietMs = Math.max(kind.quietMs, this.#clock.monotonicMs()) + QUIET_MS;
    // Nobody depends on it: whoever waits looks for himself in the end.
    this.#pool.often(notify, [this.#words(hint, held)]).catch(() => {});
  }

  #words(hint: Hint, ready: Ready): string {
    if (hint !== 'ready') return hint;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#askedMs >= PODS_MS) this.#askForPods(nowMs);
    const isKnown = nowMs - this.#groupsMs < PODS_MS_MAX;
    const notice = isKnown ? noticeOf(ready, this.#groups, this.#random) : undefined;
    return notice ? `${hint} ${wordsOf(notice)}` : hint;
  }

  /** Beside the notification, which does not wait for it: the next one will know. */
  #askForPods(nowMs: number): void {
    this.#askedMs = nowMs;
    this.#pool.query(selectPodGroups).then(
      (rows) => {
        this.#groups = rows.map(groupOf);
        this.#groupsMs = nowMs;
      },
      () => {},
    );
  }

  close(): void {
    this.#isClosed = true;
    for (const kind of Object.values(this.#kinds)) kind.cancel?.();
  }
}

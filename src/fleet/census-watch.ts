/**
 * Looks, on the pod that leads, at how much there is of everything: once in a while and not when
 * somebody asks, since it is for people and their alerts. What others would count is the same, so they
 * do not.
 */
import { type Clock, describeError } from '../ground/index.ts';
import { type Census, RECOVERY_PREFIX, type Store } from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import { blockedCount, LiveRoutes } from './blocked.ts';
import { isLeading } from './leader.ts';
import type { Life } from './life.ts';

/** Each figure is counted up to here: an index of ten thousand entries is read in milliseconds. */
const COUNT_MAX = 10_000;
/** A sample that could not be renewed for so many turns tells nothing any more. */
const TURNS_MAX = 4;

export interface CensusSample extends Census {
  /** Tasks that no pod which is up can go on with. */
  readonly blocked: number;
  /** For how long the first task, or key, that retention may remove should be gone. */
  readonly retentionLateMs: number;
  /** How old these figures are. */
  readonly agoMs: number;
}

export interface CensusWatchPorts {
  readonly store: Pick<Store, 'census'>;
  readonly clock: Clock;
  readonly everyMs: number;
  readonly silentMs: number;
  readonly retentionMs: number;
}

export class CensusWatch {
  readonly #ports: CensusWatchPorts;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isLooking = false;
  #last: { readonly pod: string; readonly atMs: number; readonly census: Census } | undefined;

  constructor(ports: CensusWatchPorts) {
    this.#ports = ports;
  }

  /** Undefined where another pod leads, nobody has looked yet, or what was seen is too old. */
  sample(life: Life | undefined): CensusSample | undefined {
    const { clock, everyMs } = this.#ports;
    if (!life || !this.#last || this.#last.pod !== life.id || !isLeading(life)) return undefined;
    const agoMs = clock.monotonicMs() - this.#last.atMs;
    if (agoMs > TURNS_MAX * everyMs) return undefined;
    const { census } = this.#last;
    const { endedOldestMs = 0, keysLateMs = 0 } = census;
    const retentionLateMs = Math.max(0, keysLateMs, endedOldestMs - this.#ports.retentionMs);
    return { ...census, blocked: blockedIn(census), retentionLateMs, agoMs };
  }

  /** After every heartbeat. Whoever comes to lead looks at once. */
  look(life: Life): void {
    const { store, clock, everyMs, silentMs } = this.#ports;
    if (!isLeading(life)) {
      this.#last = undefined;
      this.#lastMs = Number.NEGATIVE_INFINITY;
      return;
    }
    const nowMs = clock.monotonicMs();
    if (this.#isLooking || nowMs - this.#lastMs < everyMs || !life.isReady) return;
    this.#lastMs = nowMs;
    this.#isLooking = true;
    store
      .census(COUNT_MAX, silentMs)
      .then((census) => {
        this.#last = { pod: life.id, atMs: clock.monotonicMs(), census };
      })
      .catch((error) => {
        tell('store.failed', () => ({ what: 'census', error: describeError(error) }));
      })
      .finally(() => {
        this.#isLooking = false;
      });
  }
}

function blockedIn({ routes }: Census): number {
  const live = new LiveRoutes([
    { status: 'up', routes: routes.flatMap(({ route, isLive }) => (isLive ? [route] : [])) },
  ]);
  return routes
    .filter(({ route }) => !route.startsWith(RECOVERY_PREFIX))
    .reduce((sum, { route, machine, pending, waits, suspect }) => {
      const version = Number(route.slice(route.lastIndexOf('@') + 1));
      const waiting = Object.values(waits).reduce((all, count) => all + count, 0);
      const tally = {
        pending: pending + suspect,
        waiting,
        shelved: waits['version'] ?? 0,
        suspect,
      };
      return sum + blockedCount(live, { route, machine, version, claimed: 0, pinned: 0, ...tally });
    }, 0);
}

/**
 * One run at a bulk operation. Page by page: which tasks are next is written first, then it is done to
 * each of them, then what came of it is written. Whoever dies in between leaves a page that is known, and
 * what it did to some of it is found by the request ids: the next one counts each task once.
 *
 *   take ─→ [page in hand?] ─no─→ read, save ─→ act on each ─→ save ─→ and again
 *                  └──yes──────────────────────────↑
 */
import type { Clock } from '../../ground/index.ts';
import {
  type ActAnswer,
  type BulkDeed,
  type BulkItem,
  type BulkRow,
  type BulkSave,
  type BulkTally,
  bulkFilter,
  generationSeen,
  type NewTask,
  type Store,
  type StoreReader,
} from '../../store/index.ts';
import { Pace } from './pace.ts';
import { Tally } from './tally.ts';

/** So many at once: each is a transaction of its own, and the store has other things to do. */
const AT_ONCE = 8;
/** A page is what is done in about this time, so that a pause is seen and counts are fresh. */
const PAGE_SECONDS = 2;
const PAGE_COUNT_MAX = 200;
/** How long it looks for the next page before it says how far it has looked. */
const LOOK_MS = 2_000;

export interface ShiftPorts {
  readonly store: Pick<Store, 'act' | 'saveBulk'>;
  readonly reader: Pick<StoreReader, 'page' | 'count'>;
  readonly clock: Clock;
  /** Whether this process wants to let go of it: what is in hand is left to the next. */
  readonly isLeaving: () => boolean;
}

export class Shift {
  readonly #ports: ShiftPorts;
  readonly #pace: Pace;
  readonly #deed: BulkDeed;
  #row: BulkRow;
  /** Somebody before may have begun with the page in hand. */
  #isInherited: boolean;

  constructor(row: BulkRow, ports: ShiftPorts) {
    this.#ports = ports;
    this.#row = row;
    this.#deed = JSON.parse(row.deed) as BulkDeed;
    this.#isInherited = row.inHand.length > 0;
    this.#pace = new Pace(ports.clock);
  }

  get row(): BulkRow {
    return this.#row;
  }

  /** Goes on by one page. Answers whether there is more for this run to do. */
  async turn(signal: AbortSignal): Promise<boolean> {
    if (this.#row.status === 'running' && this.#row.inHand.length === 0) {
      if (!(await this.#readPage())) return false;
      // It has looked for long and found nothing: that, too, is written.
      if (this.#row.inHand.length === 0) return true;
    }
    // Somebody wants it to stop: what was done to the page in hand is found out, and nothing more is done.
    if (this.#row.status !== 'running') return this.#save(await this.#lookBack());
    return this.#save(await this.#act(signal));
  }

  /** Lets another run go on from here. */
  async handOver(next: NewTask): Promise<void> {
    await this.#save({ ...(await this.#lookBack()), next });
  }

  async #readPage(): Promise<boolean> {
    const { found, countMax, createdAt, cursor, rate, isRead } = this.#row;
    if (isRead) return this.#save({ inHand: [] });
    const isFirst = found === 0 && cursor === undefined && this.#row.expected === undefined;
    const expected = isFirst ? await this.#count() : undefined;
    const left = (countMax ?? Number.POSITIVE_INFINITY) - found;
    const count = Math.min(pageCount(rate), left);
    const filter = bulkFilter(this.#row);
    const asked = { filter, nowMs: createdAt, cursor, countMax: count, budgetMs: LOOK_MS };
    const page = await this.#ports.reader.page(asked);
    const inHand = page.tasks.map(({ id, generation }) => ({ task: id, generation }));
    const isEnough = inHand.length >= left;
    const read = { found: inHand.length, cursor: isEnough ? undefined : page.cursor };
    return this.#save({ inHand, read, expected });
  }

  async #count(): Promise<number | undefined> {
    const { createdAt: nowMs, countMax = Number.POSITIVE_INFINITY } = this.#row;
    const asked = { filter: bulkFilter(this.#row), nowMs, countMax: 1, budgetMs: LOOK_MS };
    const { count, isExact } = await this.#ports.reader.count(asked);
    return isExact || count >= countMax ? Math.min(count, countMax) : undefined;
  }

  /**
   * For about two seconds at the rate that is wanted now: what is left then stays in hand. An operation
   * that was stopped, or is another's by now, lets nothing be done for it any more.
   */
  async #act(signal: AbortSignal): Promise<Came> {
    const { inHand, rate } = this.#row;
    const count = pageCount(rate);
    const stop = new AbortController();
    const isStopped = () => stop.signal.aborted || signal.aborted || this.#ports.isLeaving();
    const tally = new Tally();
    const left = inHand.slice(0, count);
    const kept: BulkItem[] = [];
    const worker = async () => {
      for (let item = left.shift(); item; item = left.shift()) {
        if (!isStopped()) await this.#pace.wait(rate, AbortSignal.any([signal, stop.signal]));
        if (isStopped()) return void kept.push(item);
        const answer = await this.#actOn(item, false);
        if (isFenced(answer)) {
          stop.abort();
          return void kept.push(item);
        }
        tally.add(item, answer);
      }
    };
    await allOf(Array.from({ length: AT_ONCE }, worker));
    return { inHand: [...kept, ...left, ...inHand.slice(count)], tally: tally.sum };
  }

  /** Which tasks of the page in hand somebody has acted on; their answers are in the log. */
  async #lookBack(): Promise<Came> {
    if (!this.#isInherited) return { inHand: this.#row.inHand };
    const tally = new Tally();
    const left: BulkItem[] = [];
    for (const item of this.#row.inHand) {
      const answer = await this.#actOn(item, true);
      if ('isRepeated' in answer && answer.isRepeated) tally.add(item, answer);
      else left.push(item);
    }
    return { inHand: left, tally: tally.sum };
  }

  #actOn({ task, generation }: BulkItem, isDryRun: boolean): Promise<ActAnswer> {
    const { id, who, epoch } = this.#row;
    return this.#ports.store.act({
      bulk: { id, epoch },
      requestId: `bulk:${id}:${task}:${generation}`,
      who,
      via: `bulk:${id}`,
      task,
      deed: this.#deed,
      ifRevision: generationSeen(generation),
      isDryRun,
    });
  }

  /** Whether it is still this run's, and goes on. */
  async #save(came: Came): Promise<boolean> {
    const { id, epoch, shiftRun } = this.#row;
    const row = await this.#ports.store.saveBulk({ id, epoch, ...came });
    if (!row) return false;
    this.#row = row;
    this.#isInherited = false;
    return row.status === 'running' && row.shiftRun === shiftRun;
  }
}

type Came = Omit<BulkSave, 'id' | 'epoch'> & { readonly tally?: BulkTally | undefined };

function pageCount(rate: number): number {
  return Math.min(PAGE_COUNT_MAX, Math.max(1, rate * PAGE_SECONDS));
}

function isFenced(answer: ActAnswer): boolean {
  return answer.kind === 'refused' && answer.why === 'fenced';
}

/** Rejects only when all have ended: nobody acts any more when the next attempt begins. */
async function allOf(workers: readonly Promise<void>[]): Promise<void> {
  const ended = await Promise.allSettled(workers);
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed) throw failed.reason;
}

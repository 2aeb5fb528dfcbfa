/**
 * Sends what has changed in a source to a sink, round by round. A round goes from one look at the source
 * to the next, through both tables in pages; behind each page the sink keeps the position. Whatever goes
 * wrong, the position is read again and the round goes on from there: what may have arrived is sent
 * again, which changes nothing.
 */
import { type Clock, FleetqError } from '../../ground/index.ts';
import { inBatches } from './batches.ts';
import {
  ARCHIVED,
  type Archived,
  type Look,
  type Page,
  type Position,
  type Round,
  type Sink,
  type SinkName,
  type SinkSource,
} from './sink.ts';

export interface ForwarderOptions {
  readonly source: SinkSource;
  readonly sink: Sink;
  readonly as: SinkName;
  readonly clock: Clock;
  /** Longer than any statement to the sink can take: when it is over, nothing of ours is under way. */
  readonly leaseMs: number;
  /** Send everything again, whatever the position says. */
  readonly isAnew?: boolean | undefined;
  /** Whoever has it is known to be gone. */
  readonly isForced?: boolean | undefined;
  readonly onSent?: ((sent: Sent) => void) | undefined;
}

/** What a page of a round has brought. */
export interface Sent {
  readonly table: Archived;
  readonly rows: number;
  /** Records, where it was history. */
  readonly events: number;
  /** Since when the archive may lack something, by the clock of the source; null: from the beginning. */
  readonly lastMs: number | null;
}

export type RoundAnswer =
  | {
      readonly kind: 'done';
      readonly rows: number;
      readonly events: number;
      readonly look: Look;
      /** Begun by another process, or before something failed: what has changed since is not in it. */
      readonly isResumed: boolean;
    }
  /** Another process sends, or has just died: its lease is not over. */
  | { readonly kind: 'held' }
  /** It was asked to stop; the sink knows how far the round has come. */
  | { readonly kind: 'stopped' };

/** Another process has taken over while this one was away. */
export class SinkLostError extends FleetqError {
  readonly code = 'FLEETQ_SINK_LOST';
  readonly verdict = 'retry';
  constructor(name: string) {
    super(`another process sends for the sink ${name} by now`, {
      hint: 'run one of them; give a second archive a name of its own with --name',
    });
  }
}

const LIMITS = { countMax: 2_000, bytesMax: 1_500_000 } as const;

export class Forwarder {
  readonly #options: ForwarderOptions;
  #position: Position | undefined;
  #isAnew: boolean;
  #isForced: boolean;
  #isStopped = false;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#isAnew = options.isAnew ?? false;
    this.#isForced = options.isForced ?? false;
  }

  /** To the end of the round that is under way, or of a new one. */
  async round(): Promise<RoundAnswer> {
    const { source, as } = this.#options;
    if (!(await this.#hold())) {
      this.#position = undefined;
      return { kind: 'held' };
    }
    try {
      this.#position ??= await this.#takeOver();
      const to = await source.look();
      const { last, round } = this.#position;
      // What another server was asked for, or another store, says nothing about this one.
      const left = round?.to.timeline === to.timeline ? round : null;
      const begun = left ?? beginning(last, to);
      const answer = await this.#sendAll(begun, left !== null);
      if (answer.kind === 'done') await source.confirm(as, answer.look);
      return answer;
    } catch (error) {
      // Whether the last batch has arrived only the sink can tell.
      this.#position = undefined;
      throw error;
    }
  }

  /** Ends the round that is under way behind the page that is being sent. */
  stop(): void {
    this.#isStopped = true;
  }

  /** The next one need not wait for the end of the lease. */
  free(): Promise<void> {
    return this.#options.source.free(this.#options.as);
  }

  async #hold(): Promise<boolean> {
    const { source, as, leaseMs } = this.#options;
    const isHeld = await source.hold(as, leaseMs, this.#isForced);
    if (isHeld) this.#isForced = false;
    return isHeld;
  }

  async #takeOver(): Promise<Position> {
    const { sink, as } = this.#options;
    const found = await sink.takeOver(as.holder);
    if (found && !this.#isAnew) return found;
    const position = { last: null, round: null };
    if (this.#isAnew) await sink.put({ events: [], rows: [], position });
    this.#isAnew = false;
    return position;
  }

  async #sendAll(begun: Round, isResumed: boolean): Promise<RoundAnswer> {
    const sum = { rows: 0, events: 0 };
    let round: Round | null = begun;
    // Every page goes further, and no round goes beyond what was there when it began.
    while (round !== null) {
      if (this.#isStopped) return { kind: 'stopped' };
      const page = await this.#options.source.page(round, LIMITS);
      const next = nextOf(round, page);
      const position: Position =
        next === null
          ? { last: begun.to, round: null }
          : { last: this.#position?.last ?? null, round: next };
      await this.#put(round, page, position);
      this.#position = position;
      const sent = sentOf(round, page);
      sum.rows += sent.rows;
      sum.events += sent.events;
      if (page.rows.length > 0) this.#options.onSent?.(sent);
      round = next;
    }
    return { kind: 'done', ...sum, look: begun.to, isResumed };
  }

  /** Nothing to send is nothing to pay for: the position goes on with the next rows. */
  async #put({ table, from }: Round, { rows }: Page, position: Position): Promise<void> {
    const isLast = position.round === null;
    if (rows.length === 0 && !(isLast && from === null)) return;
    const batches = inBatches(rows);
    const puts = batches.length === 0 ? [[]] : batches;
    for (const [index, batch] of puts.entries()) {
      if (!(await this.#hold())) throw new SinkLostError(this.#options.as.name);
      await this.#options.sink.put({
        events: table === 'run_events' ? batch : [],
        rows: table === 'step_tracker' ? batch : [],
        position: index === puts.length - 1 ? position : undefined,
      });
    }
  }
}

/** From the very beginning where nobody can say what happened since: another server, a clock put back. */
function beginning(last: Look | null, to: Look): Round {
  const goesOn = last !== null && last.timeline === to.timeline && last.nowMs <= to.nowMs;
  return { table: ARCHIVED[0], from: goesOn ? last : null, to, after: null };
}

function nextOf(round: Round, { isLast, after }: Page): Round | null {
  if (!isLast) return { ...round, after };
  const table = ARCHIVED[ARCHIVED.indexOf(round.table) + 1];
  return table === undefined ? null : { ...round, table, after: null };
}

function sentOf({ table, from }: Round, { rows }: Page): Sent {
  const events =
    table === 'step_tracker'
      ? 0
      : rows.reduce((sum, row) => sum + Number(row['last_seq']) - Number(row['first_seq']) + 1, 0);
  return { table, rows: rows.length, events, lastMs: from?.nowMs ?? null };
}

/**
 * Queues with limits, and what people change of queues and machines. Only queues that have a limit pay
 * for it: the row of the limit is held while a claim counts and takes, so that two who claim from one
 * queue go one after the other. A claim that was killed half way has claimed nothing.
 */
import type { Clock } from '../../ground/index.ts';
import { alreadyNote, answeredBefore, refuseLongNote } from '../audit.ts';
import { StoreBusyError } from '../errors.ts';
import {
  changesFlow,
  type FlowAnswer,
  type FlowChange,
  type FlowDeed,
  type FlowState,
  noteOfFlow,
  type PausedMachine,
  type QueueRow,
} from '../queues.ts';
import { type Behind, inShares, remember } from '../shares.ts';
import type { ClaimRequest } from '../tasks.ts';
import { insertLogged, selectLogged } from './audit-log.sql.ts';
import { isBadRow } from './driver-errors.ts';
import { pausedMachinesBy, queuesBy } from './gate.ts';
import type { Hinter } from './hinter.ts';
import * as statements from './limits.sql.ts';
import type { Pool, Row, Send } from './pool.ts';
import { auditRowOf, inLineOf } from './rows.ts';
import { claimLimited } from './step-tracker-claim.sql.ts';
import { mendOpen } from './step-tracker-mend.sql.ts';

/** Which queues have a limit is looked at this often; that they have one is known to every claim. */
const LOOK_MS = 250;
const LIMITED_COUNT_MAX = 1_000;
const MEND_COUNT_MAX = 500;

export class PostgresLimits {
  readonly #pool: Pool;
  readonly #hinter: Hinter;
  readonly #clock: Clock;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #limited: readonly string[] = [];
  /** Where there are more than fit into one look, the next one goes on behind this. */
  #page = '';
  #goesFirst = false;
  /** Their rounds: those of the other queues know nothing of these. */
  readonly #behind = new Map<string, string>();

  constructor(pool: Pool, hinter: Hinter, clock: Clock) {
    this.#pool = pool;
    this.#hinter = hinter;
    this.#clock = clock;
  }

  /**
   * Claims from queues with limits and by `rest` from the others, in turns first: under a backlog
   * neither keeps the other waiting.
   */
  async claim(
    request: ClaimRequest,
    count: number,
    values: (count: number, behind: Behind) => readonly unknown[],
    rest: (count: number) => Promise<Row[]>,
  ): Promise<Row[]> {
    const looked = request.isReserve ? undefined : this.#look();
    if (this.#limited.length > 0) await looked;
    else {
      // Mostly there is none: no claim waits for that answer, nor is one lost that has none.
      const [rows] = await Promise.all([rest(count), looked?.catch(() => undefined)]);
      if (this.#limited.length === 0 || rows.length === count) return rows;
      return [...rows, ...(await this.#claimOrMend(request, count - rows.length, values))];
    }
    if (this.#limited.length === 0) return rest(count);
    this.#goesFirst = !this.#goesFirst;
    const limited = (max: number) => this.#claimOrMend(request, max, values);
    const [first, second] = this.#goesFirst ? [limited, rest] : [rest, limited];
    const rows = await first(count);
    return rows.length < count ? [...rows, ...(await second(count - rows.length))] : rows;
  }

  async #look(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lookedMs < LOOK_MS) return;
    const values = [this.#page, LIMITED_COUNT_MAX];
    const rows = await this.#pool.often(statements.selectLimited, values);
    this.#lookedMs = nowMs;
    this.#limited = rows.map((row) => row['queue'] as string);
    this.#page = rows.length < LIMITED_COUNT_MAX ? '' : this.#limited.at(-1)!;
    // The last page was full to the brim, and there is nothing behind it.
    if (rows.length === 0 && values[0] !== '') this.#lookedMs = Number.NEGATIVE_INFINITY;
  }

  /** A row that nobody can count with stops no claimer: it is mended, and the next claim goes on. */
  async #claimOrMend(
    request: ClaimRequest,
    count: number,
    values: (count: number, behind: Behind) => readonly unknown[],
  ): Promise<Row[]> {
    try {
      return await this.#claim(request, count, values);
    } catch (error) {
      if (!isBadRow(error)) throw error;
      await this.#pool.query(mendOpen, [MEND_COUNT_MAX]);
      return [];
    }
  }

  async #claim(
    { head }: ClaimRequest,
    count: number,
    values: (count: number, behind: Behind) => readonly unknown[],
  ): Promise<Row[]> {
    const rows = await this.#pool.transaction(async (send) => {
      const held = await send(statements.lockLimits, [this.#limited]);
      if (held.length === 0) return [];
      const queues = held.map((row) => row['queue'] as string);
      // A statement of its own, after the lock: it sees what whoever held it before has claimed.
      const claimed = new Map(
        (await send(statements.countClaimed, [queues])).map((row) => [
          row['queue'],
          row['claimed'],
        ]),
      );
      const rooms = held.map(({ queue, max_claimed: max }) =>
        Math.max(0, (max as number) - ((claimed.get(queue) as number | undefined) ?? 0)),
      );
      if (rooms.every((room) => room === 0)) return [];
      return send(claimLimited[head], [...values(count, this.#behind), queues, rooms]);
    });
    const inOrder = inShares(rows, inLineOf, this.#behind);
    for (const row of inOrder) remember(this.#behind, inLineOf(row));
    return inOrder.map((row) => ({ ...row, is_limited: true }));
  }

  /** Rows that were claimed until now: there may be room for others in their place. */
  freed(rows: readonly Row[]): void {
    if (this.#limited.length === 0) return;
    if (rows.some(({ queue }) => this.#limited.includes(queue as string))) {
      this.#hinter.hint('ready');
    }
  }

  queues(): Promise<QueueRow[]> {
    return queuesBy(this.#pool);
  }

  pausedMachines(): Promise<PausedMachine[]> {
    return pausedMachinesBy(this.#pool);
  }

  async change(change: FlowChange): Promise<FlowAnswer> {
    const answer = await this.#pool.transaction((send) => perform(send, change));
    this.#lookedMs = Number.NEGATIVE_INFINITY;
    if (answer.kind === 'done' && !answer.isRepeated) this.#hinter.hint('ready');
    return answer;
  }
}

async function perform(send: Send, change: FlowChange): Promise<FlowAnswer> {
  const { requestId, who, deed, isDryRun = false } = change;
  const note = refuseLongNote(noteOfFlow(change));
  const [logged] = await send(selectLogged, [requestId]);
  const answered = answeredBefore(note, logged && auditRowOf(logged));
  if (answered) return answered;
  const kind = changesFlow(deed, await stateOf(send, deed)) ? 'done' : 'already';
  if (isDryRun) return { kind, isRepeated: false };
  const { detail } = kind === 'done' ? note : alreadyNote(note);
  const values = [requestId, who, deed.what, null, JSON.stringify(detail)];
  if ((await send(insertLogged, values)).length === 0) {
    throw new StoreBusyError(`the request id ${requestId} is in use`);
  }
  if (kind === 'done') await write(send, deed, who);
  return { kind, isRepeated: false };
}

async function stateOf(send: Send, deed: FlowDeed): Promise<FlowState> {
  if ('machine' in deed) {
    const rows = await send(statements.lockMachine, [deed.machine]);
    return { limit: undefined, isPaused: rows.length > 0 };
  }
  const [row] = await send(statements.lockQueue, [deed.queue]);
  return {
    limit: (row?.['max_claimed'] ?? undefined) as number | undefined,
    isPaused: row?.['paused'] === true,
  };
}

async function write(send: Send, deed: FlowDeed, who: string): Promise<void> {
  switch (deed.what) {
    case 'queue.limit':
      await send(statements.setLimit, [deed.queue, deed.limit ?? null]);
      break;
    case 'queue.pause':
      await send(statements.pauseQueue, [deed.queue, who]);
      break;
    case 'queue.resume':
      await send(statements.resumeQueue, [deed.queue]);
      break;
    case 'machine.pause':
      await send(statements.pauseMachine, [deed.machine, who]);
      break;
    case 'machine.resume':
      await send(statements.resumeMachine, [deed.machine]);
  }
  if ('queue' in deed) await send(statements.forgetQueue, [deed.queue]);
}

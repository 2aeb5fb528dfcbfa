/** What the fleet knows of APIs, in Postgres. */
import { alreadyNote, answeredBefore } from '../audit.ts';
import { StoreBusyError } from '../errors.ts';
import {
  changesThrottle,
  noteOfThrottle,
  type ThrottleAnswer,
  type ThrottleChange,
  type ThrottleOrder,
  type ThrottleRow,
  type ThrottleWord,
} from '../throttles.ts';
import { insertLogged, selectLogged } from './audit-log.sql.ts';
import type { Pool, Send } from './pool.ts';
import { auditRowOf } from './rows.ts';
import * as statements from './throttle-state.sql.ts';

export class PostgresThrottles {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  async publish(words: readonly ThrottleWord[]): Promise<void> {
    if (words.length === 0) return;
    const apis = words.map(({ api }) => api);
    const epochs = words.map(({ epoch }) => epoch);
    const states = words.map(({ state }) => state);
    await this.#pool.query(statements.publishThrottles, [apis, epochs, states]);
  }

  rows(): Promise<ThrottleRow[]> {
    return throttlesBy(this.#pool);
  }

  change(change: ThrottleChange): Promise<ThrottleAnswer> {
    return this.#pool.transaction((send) => perform(send, change));
  }
}

export async function throttlesBy(pool: Pick<Pool, 'query'>): Promise<ThrottleRow[]> {
  const rows = await pool.query(statements.selectThrottles);
  return rows.map((row) => ({
    api: row['api'] as string,
    epoch: Number(row['epoch']),
    ageMs: Math.max(0, row['age_ms'] as number),
    state: (row['state'] ?? undefined) as string | undefined,
    pinned: (row['pinned'] ?? undefined) as number | undefined,
    pinnedBy: (row['pinned_by'] ?? undefined) as string | undefined,
    pinnedUntil: (row['pinned_until'] ?? undefined) as number | undefined,
  }));
}

async function perform(send: Send, change: ThrottleChange): Promise<ThrottleAnswer> {
  const note = noteOfThrottle(change);
  const { requestId, who, what } = note;
  const [logged] = await send(selectLogged, [requestId]);
  const answered = answeredBefore(note, logged && auditRowOf(logged));
  if (answered) return answered;
  const { order, isDryRun = false } = change;
  const [row] = await send(statements.lockThrottle, [order.api]);
  const state = row && { isPinned: row['is_pinned'] === true, isKnown: row['is_known'] === true };
  const kind = changesThrottle(order, state) ? 'done' : 'already';
  if (isDryRun) return { kind, isRepeated: false };
  const { detail } = kind === 'done' ? note : alreadyNote(note);
  const values = [requestId, who, what, null, JSON.stringify(detail)];
  if ((await send(insertLogged, values)).length === 0) {
    throw new StoreBusyError(`the request id ${requestId} is in use`);
  }
  if (kind === 'done') await write(send, order, who);
  return { kind, isRepeated: false };
}

async function write(send: Send, order: ThrottleOrder, who: string): Promise<void> {
  const { api } = order;
  switch (order.what) {
    case 'pin':
      await send(statements.pinThrottle, [api, order.cap, who, order.forMs ?? null]);
      break;
    case 'unpin':
      await send(statements.unpinThrottle, [api]);
      break;
    default:
      await send(statements.resetThrottle, [api]);
  }
}

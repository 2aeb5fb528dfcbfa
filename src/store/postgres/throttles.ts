/** What the fleet knows of APIs, in Postgres. */
import type { ThrottleOrder, ThrottleRow, ThrottleWord } from '../throttles.ts';
import type { Pool } from './pool.ts';
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

  async rows(): Promise<ThrottleRow[]> {
    const rows = await this.#pool.query(statements.selectThrottles);
    return rows.map((row) => ({
      api: row['api'] as string,
      epoch: Number(row['epoch']),
      ageMs: row['age_ms'] as number,
      state: (row['state'] ?? undefined) as string | undefined,
      pinned: (row['pinned'] ?? undefined) as number | undefined,
      pinnedBy: (row['pinned_by'] ?? undefined) as string | undefined,
      pinnedUntil: (row['pinned_until'] ?? undefined) as number | undefined,
    }));
  }

  async order(order: ThrottleOrder): Promise<boolean> {
    const { api } = order;
    const changed =
      order.what === 'pin'
        ? this.#pool.query(statements.pinThrottle, [api, order.cap, order.who, order.forMs ?? null])
        : this.#pool.query(
            order.what === 'unpin' ? statements.unpinThrottle : statements.resetThrottle,
            [api],
          );
    return (await changed).length > 0;
  }
}

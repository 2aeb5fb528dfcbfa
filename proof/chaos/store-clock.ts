/**
 * The wall clock of the database server, which can be set while it runs: hours ahead, once, and for the
 * rest of the run. Whoever judges goes by the true time, and takes those hours back.
 */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runOn } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { STORE_AHEAD_MS, WrongClock, whyNoWrongClock } from './wrong-clock.ts';

const LOOK_MS = 100;
const SEEN_MS_MAX = 10_000;

export class StoreClock {
  /** Why it cannot be set here. */
  readonly why = whyNoWrongClock();
  readonly #place = mkdtempSync(join(tmpdir(), 'fleetq-chaos-clock-'));
  readonly #clock: WrongClock;
  /** By the true time: from when on it may have been ahead. */
  setAt: number | undefined;

  constructor() {
    // The server is another user's.
    chmodSync(this.#place, 0o755);
    this.#clock = new WrongClock(join(this.#place, 'time'));
  }

  /** Of the server's process. */
  get env(): NodeJS.ProcessEnv {
    return this.why === undefined ? this.#clock.env : {};
  }

  /** True once the server shows it. */
  async set(url: string): Promise<boolean> {
    if (this.why !== undefined) return false;
    this.setAt ??= Date.now();
    this.#clock.setAhead();
    const lateMs = performance.now() + SEEN_MS_MAX;
    while (performance.now() < lateMs) {
      if (await isAhead(url)) return true;
      await sleep(LOOK_MS);
    }
    return false;
  }

  remove(): void {
    removeTree(this.#place);
  }
}

async function isAhead(url: string): Promise<boolean> {
  const seconds = STORE_AHEAD_MS / 2_000;
  const rows = await runOn<{ ahead: boolean }>(
    url,
    `select extract(epoch from clock_timestamp()) > $1::float8 + ${seconds} as ahead`,
    [Date.now() / 1_000],
  ).catch(() => []);
  return rows[0]?.ahead ?? false;
}

/** A function of the database that tells the true time of what its clock showed in this run. */
export function trueTimeSql(begunAt: number): string {
  const begun = `to_timestamp(${begunAt / 1_000})`;
  const ahead = `interval '${STORE_AHEAD_MS} milliseconds'`;
  return `
  create function chaos_true(shown timestamptz) returns timestamptz immutable language sql as $$
    select case when shown > ${begun} + ${ahead} - interval '5 minutes'
             then shown - ${ahead} else shown end $$;`;
}

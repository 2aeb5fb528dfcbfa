/**
 * A fleet's history on its way into an archive, through the real command, driver and wire, while the
 * command is killed again and again and answers are lost after their statements have committed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { migratePostgresStore } from '../../src/store/postgres/migrate.ts';
import {
  type Drop,
  type EmulatedSnowflake,
  startSnowflake,
} from '../../test/emulator/snowflake/index.ts';
import { addressOf } from '../../test/store/snowflake-harness.ts';
import { runOn, startPostgres } from '../../test/support/postgres.ts';
import { judge, type Verdict } from './judge.ts';
import { EVENTS_PER_RUN, makeLoad } from './load.ts';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const OPTIONS = { clock: systemClock, random: systemRandom };
const DROPS: readonly Drop[] = ['reset', '503', 'hang', '400'];
/** Of the answers to statements that change rows. */
const DROP_SHARE = 0.05;
const LOOK_MS = 5;
const IDLE_MS = 15_000;

export interface SiegeOptions {
  readonly events: number;
  /** At least so many; more where it takes longer. */
  readonly kills: number;
  /** How many batches a sink lives: its least and its most. */
  readonly batches: readonly [number, number];
  readonly log?: (line: string) => void;
}

export interface Report extends Verdict {
  readonly isGood: boolean;
  readonly seconds: number;
  readonly kills: number;
  readonly answersLost: number;
  readonly statements: number;
  readonly sinks: number;
}

export async function playSiege(options: SiegeOptions): Promise<Report> {
  const begunMs = performance.now();
  const log = options.log ?? (() => undefined);
  const postgres = await startPostgres(['fsync=off', 'max_connections=500', 'max_wal_size=4GB']);
  const account = await startSnowflake({ kind: 'standard', postgres });
  try {
    await hashJoins(account.url);
    const url = await postgres.createDatabase();
    await migratePostgresStore(url, OPTIONS);
    const sinks = new Sinks(url, addressOf(account), log);
    await sinks.finish(['--once', '--migrate']);
    let isLoaded = false;
    const load = makeLoad({
      url,
      runs: options.events / EVENTS_PER_RUN,
      onRuns: (count) => count % 5_000 === 0 && log(`${count} runs`),
    }).finally(() => {
      isLoaded = true;
    });
    load.catch(() => undefined);
    let kills = 0;
    let lost = 0;
    while (!isLoaded || kills < options.kills) {
      const how = DROPS[kills % DROPS.length]!;
      account.chaos.dropAnswers = { share: DROP_SHARE, how };
      account.chaos.random = () => {
        const value = Math.random();
        if (value < DROP_SHARE) lost += 1;
        return value;
      };
      const [least, most] = options.batches;
      const until = merges(account) + least + Math.floor(Math.random() * (most - least + 1));
      await sinks.liveUntil(until, () => merges(account));
      kills += 1;
      log(`killed ${kills} sinks`);
    }
    await load;
    account.chaos.calm();
    await sinks.finish(['--once', '--take-over']);
    const verdict = await judge(url, account.url);
    const isGood =
      verdict.events === options.events &&
      verdict.missing + verdict.doubled + verdict.wrong + verdict.disordered === 0;
    return {
      isGood,
      ...verdict,
      ...{ kills, answersLost: lost, statements: account.statements.total, sinks: sinks.count },
      seconds: Math.round((performance.now() - begunMs) / 100) / 10,
    };
  } finally {
    await account.stop();
    await postgres.remove();
  }
}

/** Batches that have come to the account. */
function merges({ statements }: EmulatedSnowflake): number {
  let count = 0;
  for (const [text, times] of statements.byText) {
    if (/^merge into archived_/.test(text)) count += times;
  }
  return count;
}

/**
 * Tables of the account have no keys, as they should; so what Postgres knows of their size before it has
 * looked decides whether a MERGE takes a moment or forever. An account never goes row by row.
 */
async function hashJoins(url: string): Promise<void> {
  const database = new URL(url).pathname.slice(1);
  await runOn(url, `alter database ${database} set enable_nestloop = off`);
  await runOn(url, `alter database ${database} set work_mem = '64MB'`);
}

/** The command as a process, one at a time. */
class Sinks {
  count = 0;
  readonly #args: readonly string[];
  readonly #log: (line: string) => void;

  constructor(store: string, to: string, log: (line: string) => void) {
    const wanted = ['--every', '200ms', '--deadline', '30s'];
    this.#args = ['sink', '--store', store, '--to', to, ...wanted];
    this.#log = log;
  }

  /** SIGKILL when so many batches have come; or after a while in which there was nothing to send. */
  async liveUntil(until: number, come: () => number): Promise<void> {
    const child = this.#start(['--json', '--take-over']);
    const isOver = once(child, 'exit');
    let [seen, seenMs] = [come(), performance.now()];
    const look = setInterval(() => {
      if (come() > seen) [seen, seenMs] = [come(), performance.now()];
      if (seen >= until || performance.now() - seenMs > IDLE_MS) child.kill('SIGKILL');
    }, LOOK_MS);
    const [code, signal] = await isOver;
    clearInterval(look);
    if (signal !== 'SIGKILL') throw new Error(`the sink ended by itself, with ${code}`);
  }

  async finish(args: readonly string[]): Promise<void> {
    const [code] = await once(this.#start(args), 'exit');
    if (code !== 0) throw new Error(`fleetq sink ${args.join(' ')} ended with ${code}`);
  }

  #start(args: readonly string[]): ChildProcess {
    this.count += 1;
    const child = spawn(process.execPath, [BIN, ...this.#args, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => this.#log(text.trim()));
    child.stdout!.setEncoding('utf8').on('data', (text: string) => this.#log(text.trim()));
    return child;
  }
}

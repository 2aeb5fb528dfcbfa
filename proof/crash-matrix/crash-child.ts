/**
 * Runs machines of the crash matrix in a process of its own, and kills that process at the record it
 * is told: before the record is given to the journal (its effect done and in the ledger), when it
 * waits in memory for its commit, or right after it is durable (the next phase not begun). Production
 * code knows nothing of this.
 */
import { writeSync } from 'node:fs';
import { createFleet, type Fleet } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { fastClock } from '../../test/support/fast-clock.ts';
import { Ledger } from '../../test/support/ledger.ts';
import { codecIfTold } from '../../test/support/sealed.ts';
import { Scribe, type Shape, shapes } from '../../test/support/shapes.ts';

export interface CrashArgument {
  readonly baseMs: number;
  readonly killAt?: KillAt | undefined;
  readonly cases: readonly CrashCase[];
}
export interface KillAt {
  readonly when: 'before' | 'buffered' | 'after';
  /** Counts the records this process writes, from 1. */
  readonly nth: number;
}
export interface CrashCase {
  readonly dataDir: string;
  readonly ledger: string;
  /** Executed at the same time, so that their records share commits. */
  readonly shapes: readonly Shape[];
}
export interface CrashReport {
  readonly dataDir: string;
  readonly shape: Shape;
  /** Runs that were in the journal when it was opened. */
  readonly found: readonly string[];
  readonly run: string;
  readonly outcome: string | undefined;
  readonly output: unknown;
  readonly reason: string | undefined;
  readonly records: readonly unknown[];
  /** How many records this process wrote in that journal. */
  readonly appended: number;
}

let appended = 0;

function killSelfAt({ when, nth }: KillAt): void {
  const append = SqliteJournal.prototype.append;
  SqliteJournal.prototype.append = function (entry) {
    appended++;
    if (appended !== nth) return append.call(this, entry);
    const die = () => {
      writeSync(1, `dying ${when} record ${entry.seq} ${entry.event.type} to ${entry.state}\n`);
      process.kill(process.pid, 'SIGKILL');
    };
    if (when === 'before') die();
    const appending = append.call(this, entry);
    if (when === 'buffered') die();
    return appending.then((appendedEntry) => {
      die();
      return appendedEntry;
    });
  };
}

function countAppends(): void {
  const append = SqliteJournal.prototype.append;
  SqliteJournal.prototype.append = function (entry) {
    appended++;
    return append.call(this, entry);
  };
}

async function finish({ dataDir, ledger, shapes: wanted }: CrashCase, baseMs: number) {
  const scribe = new Scribe(new Ledger(ledger));
  const machines = Object.values(shapes(scribe));
  const factor = wanted.includes('sleeping') ? 400 : 1;
  const clock = fastClock(baseMs, factor);
  appended = 0;
  const fleet: Fleet = await createFleet({
    machines,
    dataDir,
    clock,
    around: scribe.around,
    codec: codecIfTold(),
    // The judge copies the directory of a killed process, and a socket cannot be copied.
    socket: false,
  });
  const found = fleet.runs({ countMax: 10 }).map((run) => run.id);
  const key = { key: 'the-only-one' };
  const reports = await Promise.all(
    wanted.map(async (shape) => {
      const run = await fleet.startByName(shape, { subject: 'apple' }, key);
      await run.result({ timeout: '10m' }).catch(() => undefined);
      const { outcome, output, reason } = fleet.describe(run.id);
      const records = fleet.events(run.id);
      return { dataDir, shape, found, run: run.id, outcome, output, reason, records };
    }),
  );
  await fleet.drain();
  for (const report of reports) writeSync(1, `${JSON.stringify({ ...report, appended })}\n`);
}

const argument = JSON.parse(process.argv[2] ?? '{}') as CrashArgument;
if (argument.killAt) killSelfAt(argument.killAt);
else countAppends();
for (const one of argument.cases) await finish(one, argument.baseMs);

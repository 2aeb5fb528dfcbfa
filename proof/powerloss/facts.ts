/** What the product makes of an image: everything it answers, and whether it can be opened again. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { RunId } from '../../src/ground/index.ts';
import { DamagedRunError, SqliteJournal, verifyJournal } from '../../src/journal/index.ts';
import { clockAt } from '../../test/journal/entries.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import type { Files } from './disk.ts';

export interface RunFacts {
  readonly hashes: readonly string[];
  /** As JSON; undefined where it has not ended. */
  readonly ending: string | undefined;
  readonly isDamaged: boolean;
}
export interface Facts {
  readonly boot: number;
  readonly alarms: readonly string[];
  /** Whether it claims to know what was being executed when the power went. */
  readonly isCertain: boolean;
  readonly runs: ReadonlyMap<RunId, RunFacts>;
  /** What a check of the whole file, once it had been opened and closed, found wrong. */
  readonly problems: readonly string[];
}

const NOW = 3_000_000;
const RUNS_MAX = 1_000;

/** Opens the image twice; whatever is thrown is the caller's. */
export function factsOf(files: Files, data: string): Facts {
  lay(files, data);
  const journal = open(data);
  let facts: Omit<Facts, 'problems'>;
  try {
    facts = {
      boot: journal.boot,
      alarms: journal.alarms.map(({ kind }) => kind),
      isCertain: journal.evidence.isComplete,
      runs: new Map(
        journal.list({ countMax: RUNS_MAX }).map((row) => [row.id, runFacts(journal, row.id)]),
      ),
    };
  } finally {
    journal.close();
  }
  open(data).close();
  return { ...facts, problems: verifyJournal(data).problems.map(({ message }) => message) };
}

function runFacts(journal: SqliteJournal, id: RunId): RunFacts {
  try {
    const row = journal.find(id);
    return {
      hashes: journal.history(id).map((record) => record.hash),
      ending: row?.ending && JSON.stringify(row.ending),
      isDamaged: row?.damage !== undefined,
    };
  } catch (error) {
    if (!(error instanceof DamagedRunError)) throw error;
    return { hashes: [], ending: undefined, isDamaged: true };
  }
}

function open(data: string): SqliteJournal {
  return SqliteJournal.open(data, { clock: clockAt(NOW), random: seededRandom(6) });
}

function lay(files: Files, data: string): void {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(data)) {
    // The ballast says nothing; writing it anew each time would take most of the time.
    if (name !== 'ballast') rmSync(join(data, name), { recursive: true });
  }
  for (const [name, bytes] of files) {
    const found = name.startsWith('journal.mark') ? ofAnotherBoot(bytes) : bytes;
    writeFileSync(join(data, name), found, { mode: 0o600 });
  }
}

const BOOT_AT = 40;
const CRC_AT = 100;

/** After a loss of power the kernel has another boot id than the one that is in a whole mark. */
function ofAnotherBoot(mark: Buffer): Buffer {
  if (mark.length < CRC_AT + 4) return mark;
  if (mark.readUInt32LE(CRC_AT) !== crc32(mark.subarray(0, CRC_AT))) return mark;
  const other = Buffer.from(mark);
  other.write('00000000-0000-4000-8000-000000000000', BOOT_AT, 'latin1');
  other.writeUInt32LE(crc32(other.subarray(0, CRC_AT)), CRC_AT);
  return other;
}

/** The one row a run has: opened with its first record, sealed with its last. */
import { hash, type RunId } from '../ground/index.ts';
import type { Ending } from '../machine/index.ts';
import type { Codec } from './codec.ts';
import { DamagedRunError } from './errors.ts';
import type { Closing, DeadLetter, Entry, RunRow } from './journal.ts';

export interface RawRunRow {
  readonly id: string;
  readonly machine: string;
  readonly version: number;
  readonly key: string | null;
  readonly started_at: number;
  readonly finished_at: number | null;
  readonly outcome: string | null;
  readonly ending: string | null;
  readonly last_seq: number | null;
  readonly last_hash: string | null;
  readonly seal: string | null;
}

/** The row of a run that has ended, from what its last record closes with. */
export function sealedRow(
  entry: Entry,
  closing: Closing,
  lastHash: string,
  codec: Codec,
): RawRunRow {
  const row = {
    id: entry.run,
    machine: closing.machine,
    version: closing.version,
    key: closing.key ?? null,
    started_at: closing.startedAt,
    finished_at: entry.at,
    outcome: closing.ending.outcome,
    ending: codec.encode(JSON.stringify(closing.ending)),
    last_seq: entry.seq,
    last_hash: lastHash,
    seal: null,
  };
  return { ...row, seal: sealOf(row) };
}

function sealOf(row: RawRunRow): string {
  const { id, machine, version, key, started_at, finished_at, outcome, ending } = row;
  return hash(
    [
      id,
      machine,
      version,
      key ?? '',
      started_at,
      finished_at,
      outcome,
      ending,
      row.last_seq,
      row.last_hash,
    ].join('\n'),
  );
}

/** Reads a row; an ended one answers only if its seal fits. */
export function readRunRow(row: RawRunRow, codec: Codec): RunRow {
  if (row.finished_at !== null && sealOf(row) !== row.seal) {
    throw new DamagedRunError(row.id, 'its row does not match its seal');
  }
  return {
    id: row.id as RunId,
    machine: row.machine,
    version: row.version,
    key: row.key ?? undefined,
    startedAt: row.started_at,
    finishedAt: row.finished_at ?? undefined,
    ending: row.ending === null ? undefined : (JSON.parse(codec.decode(row.ending)) as Ending),
  };
}

/** The evidence kept beside a failed run; undefined for one that did not fail. */
export function deadLetterOf(entry: Entry, closing: Closing): DeadLetter | undefined {
  const { ending, machine, version, attempt } = closing;
  const { outcome, state } = ending;
  if (outcome !== 'exhausted' && outcome !== 'aborted' && outcome !== 'timedOut') return undefined;
  const reason = ending.reason ?? ending.error?.message ?? outcome;
  return { run: entry.run, at: entry.at, machine, version, outcome, state, attempt, reason };
}

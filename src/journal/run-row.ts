/** The one row a run has: opened with its first record, sealed with its last. */
import { assert, hash, KeyMissingError, type RunId } from '../ground/index.ts';
import { type Ending, originOf } from '../machine/index.ts';
import { type Codec, endingPlace, isSealedEvent } from './codec.ts';
import { DamagedRunError, SealedRunError } from './errors.ts';
import type { Closing, DeadLetter, Entry, RunRow, StoredRecord } from './journal.ts';

export interface RawRunRow {
  readonly id: string;
  readonly machine: string;
  readonly version: number;
  readonly key: string | null;
  readonly started_at: number;
  readonly finished_at: number | null;
  readonly outcome: string | null;
  readonly attempt: number | null;
  readonly ending: string | null;
  readonly last_seq: number | null;
  readonly last_hash: string | null;
  readonly seal: string | null;
  readonly generation: number | null;
}

/** The row of a run that has ended, from what its last record closes with. */
export function sealedRow(
  entry: Entry,
  closing: Closing,
  lastHash: string,
  codec: Codec,
): RawRunRow {
  const place = endingPlace(entry.run, closing.ending.outcome);
  const ending = codec.encode(JSON.stringify(closing.ending), place);
  const row = {
    id: entry.run,
    machine: closing.machine,
    version: closing.version,
    key: closing.key ?? null,
    started_at: closing.startedAt,
    finished_at: entry.at,
    outcome: closing.ending.outcome,
    attempt: closing.attempt,
    ending,
    last_seq: entry.seq,
    last_hash: lastHash,
    seal: '',
    generation: closing.generation ?? null,
  };
  row.seal = sealOf(row);
  return row;
}

function sealOf(row: RawRunRow): string {
  const { id, machine, version, key, started_at, finished_at, outcome, attempt, ending } = row;
  return hash(
    `${id}\n${machine}\n${version}\n${key ?? ''}\n${started_at}\n${finished_at}\n${outcome}\n` +
      `${attempt}\n${ending}\n${row.last_seq}\n${row.last_hash}` +
      (row.generation === null ? '' : `\n${row.generation}`),
  );
}

/**
 * Reads a row. An ended one answers only if its seal fits; of a live one, whoever asks holds it
 * against the first record.
 */
export function readRunRow(row: RawRunRow, codec: Codec): RunRow {
  if (!isRunRow(row)) throw new DamagedRunError(row.id, 'its row has values of another kind');
  if (row.finished_at !== null && !isSealed(row)) {
    throw new DamagedRunError(row.id, 'its row does not match its seal');
  }
  return {
    id: row.id as RunId,
    machine: row.machine,
    version: row.version,
    key: row.key ?? undefined,
    startedAt: row.started_at,
    finishedAt: row.finished_at ?? undefined,
    ending: row.finished_at === null ? undefined : readEnding(row, codec),
    generation: row.generation ?? undefined,
  };
}

/** Whether it has ended, and nobody has changed it since. */
export function isSealed(row: RawRunRow): boolean {
  return row.finished_at !== null && isRunRow(row) && sealOf(row) === row.seal;
}

/** A damaged value may have become bytes that read as the same text, and would pass for it. */
export function isRunRow(row: RawRunRow): boolean {
  const { id, machine, version, key, started_at, finished_at, outcome, attempt, ending } = row;
  if (!isText(id) || !isText(machine) || !(key === null || isText(key))) return false;
  if (!isInteger(version) || !isInteger(started_at)) return false;
  if (!isInteger(row.generation ?? 0)) return false;
  if (finished_at === null) return true;
  const { last_seq, last_hash, seal } = row;
  return (
    [finished_at, attempt, last_seq].every(isInteger) &&
    [outcome, ending, last_hash, seal].every(isText)
  );
}

const isText = (value: unknown) => typeof value === 'string';
const isInteger = (value: unknown) => Number.isSafeInteger(value);

function readEnding(row: RawRunRow, codec: Codec): Ending {
  try {
    const place = endingPlace(row.id, row.outcome ?? '');
    return JSON.parse(codec.decode(row.ending ?? '', place)) as Ending;
  } catch (cause) {
    if (cause instanceof KeyMissingError) throw new SealedRunError(row.id, cause);
    // The seal fits, so it was written like this: with another key, most likely.
    throw Object.assign(new DamagedRunError(row.id, 'its ending cannot be decoded'), { cause });
  }
}

/**
 * The row of a run that has not been sealed, as its first record wants it. One that has ended must have
 * been, unless it is held for a store: such a row goes as soon as the store has its end.
 */
export function unfinishedRow(
  run: string,
  records: readonly StoredRecord[],
): RawRunRow | undefined {
  const first = records[0];
  if (first?.event.type !== 'STARTED') return undefined;
  if (hasEnded(records) && first.event.generation === undefined) return undefined;
  const { key, generation } = first.event;
  const { machine, version } = originOf(records);
  return openRow([run, machine, version, key ?? null, first.at, generation ?? null]);
}

/** Whether the last record leads to an end: only states inside a step have a name of two parts. */
export function hasEnded(records: readonly StoredRecord[]): boolean {
  return records.at(-1)?.state.includes('.') === false;
}

/** What there is to say of a run that has not ended, in the order of its columns. */
export type OpenColumns = readonly [
  id: string,
  machine: string,
  version: number,
  key: string | null,
  startedAt: number,
  generation: number | null,
];

export function openRow(columns: readonly [...OpenColumns, ...unknown[]]): RawRunRow {
  const [id, machine, version, key, started_at, generation] = columns;
  return {
    id,
    machine,
    version,
    key,
    started_at,
    finished_at: null,
    outcome: null,
    attempt: null,
    ending: null,
    last_seq: null,
    last_hash: null,
    seal: null,
    generation,
  };
}

/**
 * A live row has no seal; its records, which have hashes, say what it must say: all of it the first
 * one, but the version the last that has changed it.
 */
export function refuseOtherStart(row: RawRunRow, records: readonly StoredRecord[]): void {
  const { event, at } = records[0]!;
  // Its chain is whole, and whoever only looks has no key to see more.
  if (records.some((record) => isSealedEvent(record.event))) return;
  const isSame =
    event.type === 'STARTED' &&
    event.machine === row.machine &&
    originOf(records).version === row.version &&
    (event.key ?? null) === row.key &&
    (event.generation ?? null) === row.generation &&
    at === row.started_at;
  if (!isSame) throw new DamagedRunError(row.id, 'its row and its first record differ');
}

/** What an ended run's row has sealed is also how its records end, and a live run's have no end. */
export function refuseOtherEnd(row: RawRunRow, records: readonly StoredRecord[]): void {
  if (row.finished_at === null) return refuseOtherStart(row, records);
  const last = records.at(-1)!;
  if (last.seq !== row.last_seq || last.hash !== row.last_hash) {
    throw new DamagedRunError(row.id, `its records end at ${last.seq}, its row at ${row.last_seq}`);
  }
}

/** When a timer has to wake a run with these records; undefined where it does not wait. */
export function dueAtOf(records: readonly StoredRecord[]): number | undefined {
  const first = records[0]?.event;
  // A newer version that goes on with a run leaves it where it waits.
  const last = records.findLast(({ event }) => event.type !== 'ADVANCED')?.event;
  if (!last || !('dueAt' in last)) return undefined;
  const deadlineAt = first?.type === 'STARTED' ? first.deadlineAt : undefined;
  return Math.min(last.dueAt, deadlineAt ?? last.dueAt);
}

/** The evidence that the row of a failed run is. */
export function deadLetterOf(row: RawRunRow, { id, machine, version, ending }: RunRow): DeadLetter {
  assert(ending !== undefined, `run ${id} has no ending and cannot be a dead letter`);
  const { outcome, state } = ending;
  const reason = ending.reason ?? ending.error?.message ?? outcome;
  const [at, attempt] = [row.finished_at ?? 0, row.attempt ?? 0];
  return { run: id, at, machine, version, outcome, state, attempt, reason };
}

/** Reads a simulated disk back, by the real journal's rules for what can be trusted. */
import type { RunId } from '../../src/ground/index.ts';
import { identityCodec } from '../../src/journal/codec.ts';
import { DamagedRunError, unlessDamaged } from '../../src/journal/errors.ts';
import type {
  DeadLetter,
  EventRow,
  HeldRow,
  RunFilter,
  RunRow,
  StoredRecord,
  UnfinishedRun,
  WholeRun,
} from '../../src/journal/journal.ts';
import { decodeRows } from '../../src/journal/record.ts';
import {
  deadLetterOf,
  type RawRunRow,
  readRunRow,
  refuseOtherEnd,
  refuseOtherStart,
} from '../../src/journal/run-row.ts';
import type { Disk } from './disk.ts';

export class DiskReader {
  readonly #disk: Disk;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  find(run: RunId): RunRow | undefined {
    const row = this.#disk.runs.get(run);
    return row && readRunRow(row, identityCodec);
  }

  findByKey(machine: string, key: string, finishedSince: number): RunRow | undefined {
    const row = this.#rows()
      .filter((one) => one.machine === machine && one.key === key)
      .at(-1);
    if (!row || (row.finished_at !== null && row.finished_at < finishedSince)) return undefined;
    return readRunRow(row, identityCodec);
  }

  list({ countMax }: RunFilter): RunRow[] {
    return this.#rows()
      .reverse()
      .slice(0, countMax)
      .map((row) => readRunRow(row, identityCodec));
  }

  history(run: RunId, afterSeq = -1): StoredRecord[] {
    const row = this.#disk.runs.get(run);
    const events = this.rows(run);
    if (row && events.length === 0 && row.finished_at !== null) return [];
    const records = decodeRows(run, events, identityCodec);
    if (row) refuseOtherEnd(row, records);
    return records.filter((record) => record.seq > afterSeq);
  }

  page(run: RunId, afterSeq: number, _bytesMax: number): StoredRecord[] {
    return this.history(run, afterSeq);
  }

  lastSeq(run: RunId): number | undefined {
    return this.rows(run).at(-1)?.seq;
  }

  recent(countMax: number): { run: string; at: number }[] {
    const rows = [...this.#disk.events.values()].flat();
    return rows.sort((a, b) => b.lsn - a.lsn).slice(0, countMax);
  }

  hasEvents(run: RunId): boolean {
    return this.#disk.events.has(run);
  }

  holds(): HeldRow[] {
    return this.#rows().flatMap(({ id, generation, version }) => {
      if (generation === null) return [];
      const run = id as RunId;
      // As in the file, a run without records has no epoch either.
      return [{ run, generation, version, epoch: this.rows(run).at(-1)?.epoch as number }];
    });
  }

  hasRun(run: RunId): boolean {
    return this.#disk.runs.has(run);
  }

  rows(run: RunId): EventRow[] {
    return [...(this.#disk.events.get(run) ?? [])];
  }

  decode(run: RunId, rows: readonly EventRow[]): StoredRecord[] {
    return decodeRows(run, rows, identityCodec);
  }

  readTogether(runs: readonly RunId[]): (WholeRun | undefined)[] {
    return runs.map((run) =>
      unlessDamaged(() => {
        const raw = this.#disk.runs.get(run);
        if (!raw || raw.finished_at !== null) return undefined;
        const rows = this.rows(run);
        const records = decodeRows(run, rows, identityCodec);
        refuseOtherStart(raw, records);
        return { row: readRunRow(raw, identityCodec), rows, records };
      }),
    );
  }

  *unfinished(asleepUntil: number): Iterable<UnfinishedRun> {
    for (const raw of this.#rows()) {
      const isAsleep = (this.#disk.timers.get(raw.id) ?? Number.NEGATIVE_INFINITY) > asleepUntil;
      if (raw.finished_at !== null || raw.generation !== null || isAsleep) continue;
      yield this.#resumable(raw);
    }
  }

  #resumable(raw: RawRunRow): UnfinishedRun {
    const row = readRunRow(raw, identityCodec);
    try {
      const records = decodeRows(row.id, this.rows(row.id), identityCodec);
      refuseOtherStart(raw, records);
      return { row, records };
    } catch (error) {
      if (error instanceof DamagedRunError) return { row, damage: error.message };
      throw error;
    }
  }

  nextTimerAt(): number | undefined {
    const times = [...this.#disk.timers.values()];
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  deadLetters(countMax: number): DeadLetter[] {
    return this.#rows()
      .filter(({ outcome }) => ['exhausted', 'aborted', 'timedOut'].includes(outcome ?? ''))
      .slice(0, countMax)
      .map((row) => deadLetterOf(row, readRunRow(row, identityCodec)));
  }

  protected lastSeqs(runs: Iterable<RunId>): Map<RunId, number> {
    const seqs = new Map<RunId, number>();
    for (const run of runs) {
      const seq = this.rows(run).at(-1)?.seq;
      if (this.#disk.runs.get(run)?.finished_at === null && seq !== undefined) seqs.set(run, seq);
    }
    return seqs;
  }

  #rows(): RawRunRow[] {
    return [...this.#disk.runs.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/**
 * Every run in flight with what would become of it: those of this host's journals first, then what the
 * store has, a page at a time, so that tens of thousands of them need no more memory than a few.
 */
import type { Config } from '../../config/index.ts';
import type { RunSummary } from '../../engine/index.ts';
import {
  type Forecast,
  type ForecastPorts,
  forecastRun,
  forecastTask,
  rowsOf,
} from '../../fleet/index.ts';
import {
  type Codec,
  describeError,
  describeSealed,
  identityCodec,
  type RunId,
} from '../../ground/index.ts';
import {
  isSealedEvent,
  SealedRunError,
  type StoredRecord,
  UnknownRecordError,
} from '../../journal/index.ts';
import { isOwnMachine, type Segment, type Store, type TaskRow } from '../../store/index.ts';
import { NoJournalError } from '../errors.ts';
import { type Reach, reachToRead } from '../reach.ts';
import { decodeRecords } from './history.ts';
import { podDirectories } from './local-pods.ts';

/** One run, as a line of `--out` has it. */
export interface PlannedRun extends Forecast {
  readonly run: string;
  readonly machine: string;
  /** The version it stands under now. */
  readonly version: number;
  /** 'store', or the data directory whose journal it is in. */
  readonly in: string;
  readonly status: string;
  /** How many records there are of it. */
  readonly records: number;
}

/** Held for a store that nobody has named: only that store tells what becomes of them. */
export interface Passed {
  held: number;
}

/** Small: each may have an input of a megabyte, and a history. */
const PAGE_COUNT = 100;

/** Given to `take` as they are read: a file is opened once, however many runs there are in it. */
export async function planOfJournals(
  ports: ForecastPorts,
  config: Config,
  passed: Passed,
  take: (run: PlannedRun) => Promise<void>,
): Promise<void> {
  for (const dataDir of podDirectories(config.dataDir)) {
    await onJournal({ ...config, dataDir }, async (reach) => {
      let before: string | undefined;
      do {
        const page = await reach.runs({ status: 'unfinished', before, limit: PAGE_COUNT });
        before = page.length < PAGE_COUNT ? undefined : page.at(-1)!.id;
        for (const run of page) {
          if (isOwnMachine(run.machine)) continue;
          if (run.generation !== undefined) passed.held += 1;
          else await take(await planOfLocal(ports, reach, dataDir, run));
        }
      } while (before !== undefined);
    });
  }
}

/** A directory without a journal has no runs. */
async function onJournal(config: Config, act: (reach: Reach) => Promise<void>): Promise<void> {
  try {
    await reachToRead(config, act);
  } catch (error) {
    if (!(error instanceof NoJournalError)) throw error;
  }
}

async function planOfLocal(
  ports: ForecastPorts,
  reach: Reach,
  dataDir: string,
  { id, machine, version, status, reason }: RunSummary,
): Promise<PlannedRun> {
  const of = { run: id, machine, version, in: dataDir, status };
  if (status === 'quarantined') return { ...of, records: 0, fate: 'fails', at: '', reason };
  const records = await reach.events(id);
  if (records.some(({ event }) => isSealedEvent(event))) {
    const reason = 'its records are sealed with a key that is not here';
    return { ...of, records: records.length, fate: 'blocked', at: '', reason };
  }
  const isOpen = reach.by === 'process' && status === 'active';
  return { ...of, records: records.length, ...(await forecastRun(ports, records, isOpen)) };
}

/** `isKnown`: told by a journal of this host already, which has more of it than the store. */
export async function* planOfStore(
  ports: ForecastPorts,
  store: Store,
  isKnown: (id: string) => boolean,
  codec: Codec = identityCodec,
): AsyncGenerator<PlannedRun> {
  let before: string | undefined;
  for (;;) {
    const page = await store.list({ isInFlight: true, before, countMax: PAGE_COUNT });
    const rows = page.filter(({ id, machine }) => !isKnown(id) && !isOwnMachine(machine));
    const segments = await segmentsOf(store, rows);
    for (const row of rows) yield await planOf(ports, row, segments, codec);
    if (page.length < PAGE_COUNT) return;
    before = page.at(-1)!.id;
  }
}

async function planOf(
  ports: ForecastPorts,
  row: TaskRow,
  segments: ReadonlyMap<string, Segment[]>,
  codec: Codec,
): Promise<PlannedRun> {
  const { id, machine, version, status, generation, carriesFrom } = row;
  const of = { run: id, machine, version, in: 'store', status };
  const sealed = describeSealed(row.payload ?? '');
  if (sealed !== undefined) {
    return { ...of, records: 0, fate: 'blocked', at: '', reason: `its input is ${sealed}` };
  }
  const read = readerBy(codec);
  try {
    const records = read(id, segments.get(placeOf(id, generation)), row.lastHash);
    const earlier =
      records.length === 0 && carriesFrom !== undefined
        ? read(id, segments.get(placeOf(id, carriesFrom)), undefined)
        : undefined;
    const forecast = await forecastTask(ports, row, records, earlier);
    return { ...of, records: records.length, ...forecast };
  } catch (error) {
    const reason = `its records cannot be read here: ${describeError(error).message}`;
    // A pod with a newer FleetQ, or the key, can read them; others leave the task alone until one comes.
    const { cause } = error as Error;
    const isOfOthers = cause instanceof UnknownRecordError || cause instanceof SealedRunError;
    return { ...of, records: 0, fate: isOfOthers ? 'blocked' : 'fails', at: '', reason };
  }
}

function readerBy(codec: Codec) {
  return (
    id: RunId,
    segments: readonly Segment[] | undefined,
    settledAt: string | undefined,
  ): StoredRecord[] => (segments ? decodeRecords(id, rowsOf(id, segments, settledAt), codec) : []);
}

async function segmentsOf(
  store: Store,
  rows: readonly TaskRow[],
): Promise<ReadonlyMap<string, Segment[]>> {
  const wanted = rows.flatMap(({ id: task, generation, carriesFrom }) => [
    { task, generation },
    ...(carriesFrom === undefined ? [] : [{ task, generation: carriesFrom }]),
  ]);
  const found = new Map<string, Segment[]>();
  for (const segment of wanted.length > 0 ? await store.histories(wanted) : []) {
    const place = placeOf(segment.task, segment.generation);
    found.set(place, [...(found.get(place) ?? []), segment]);
  }
  return found;
}

function placeOf(task: RunId, generation: number): string {
  return `${task}\n${generation}`;
}

/** What there is to export of a run: from the store, or from the journal of this host. */
import { type Config, version } from '../../config/index.ts';
import type { RunSummary } from '../../engine/index.ts';
import { rowsOf } from '../../fleet/index.ts';
import { type Codec, identityCodec, type RunId, systemClock } from '../../ground/index.ts';
import {
  DamagedRunError,
  decodeRows,
  type EventRow,
  type StoredRecord,
} from '../../journal/index.ts';
import { originOf, Registry, routeOf } from '../../machine/index.ts';
import type { Announcement, Segment, Store, TaskRow } from '../../store/index.ts';
import { withoutPassword } from '../doctor.ts';
import { RunFileError } from '../errors.ts';
import { codecFor } from '../fleet/open.ts';
import { loadMachines } from '../machines.ts';
import {
  FORMAT,
  type Generation,
  generationOf,
  KIND,
  type RunFile,
  summaryPlace,
} from './format.ts';

/** Redriven more often than this, a task has its newest generations exported. */
const GENERATIONS_MAX = 1_000;
const ASKED_AT_ONCE = 20;

function headOf(id: RunId, from: RunFile['from']): Omit<RunFile, 'generations'> {
  const exportedAt = systemClock.now();
  return { kind: KIND, format: FORMAT, exportedAt, exportedBy: version(), from, id };
}

/** The store is one that opens nothing: what is sealed is exported as it is. */
export async function gatherTask(config: Config, store: Store, task: TaskRow): Promise<RunFile> {
  const first = Math.max(1, task.generation - GENERATIONS_MAX + 1);
  const generations: Generation[] = [];
  for (let from = first; from <= task.generation; from += ASKED_AT_ONCE) {
    const until = Math.min(from + ASKED_AT_ONCE - 1, task.generation);
    generations.push(...(await generationsOf(store, task, from, until)));
  }
  const route = routeOf({ name: task.machine, version: task.version });
  const known = (await store.known()).find((each) => each.route === route);
  const where = withoutPassword(config.store) ?? '';
  return {
    ...headOf(task.id, { kind: 'store', where }),
    task,
    generations,
    machine: known && announced(known),
  };
}

async function generationsOf(
  store: Store,
  { id, generation: current, lastHash }: TaskRow,
  first: number,
  last: number,
): Promise<Generation[]> {
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const segments = await store.histories(numbers.map((generation) => ({ task: id, generation })));
  return numbers.map((number) => {
    const own = segments.filter(({ generation }) => generation === number);
    // Nobody has begun it, or retention has been there.
    const rows = own.length === 0 ? [] : rowsOf(id, own, number === current ? lastHash : undefined);
    return generationOf(number, rows, outcomeOf(own));
  });
}

/** A redrive keeps it behind the records, as a segment of its own. */
function outcomeOf(segments: readonly Segment[]): unknown {
  const kept = segments.find(({ state }) => state === 'outcome');
  return kept && (JSON.parse(kept.events) as unknown[])[0];
}

/** What a run of this host is exported from. */
export interface LocalRun {
  readonly run: RunSummary;
  readonly records: readonly StoredRecord[];
  /** As they are stored; a process tells only what it makes of them. */
  readonly rows: readonly EventRow[] | undefined;
}

/** What a file has of a run: a process tells more, which is of that moment and not of the run. */
const SUMMARY: Record<keyof RunSummary, true> = {
  ...{ id: true, machine: true, version: true, key: true, generation: true, status: true },
  ...{ outcome: true, state: true, attempt: true, seq: true, startedAt: true, updatedAt: true },
  ...{ finishedAt: true, dueAt: true, reason: true, error: true, input: true, output: true },
  progress: true,
};

function summaryIn(told: RunSummary): RunSummary {
  const entries = Object.entries(told).filter(([name]) => Object.hasOwn(SUMMARY, name));
  return Object.fromEntries(entries) as unknown as RunSummary;
}

export async function gatherRun(config: Config, found: LocalRun): Promise<RunFile> {
  const run = summaryIn(found.run);
  const { records } = found;
  const rows = found.rows ?? records.map((record) => rowOfRecord(run.id, record));
  if (!found.rows) refuseOtherRows(config, run.id, rows);
  return {
    ...headOf(run.id, { kind: 'journal', where: config.dataDir }),
    ...sealedTexts(codecFor(config), run),
    generations: [generationOf(run.generation ?? 1, rows)],
    machine: records.length === 0 ? undefined : await machineHere(config, records),
  };
}

/** Whoever may not read the journal must not read its secrets here. */
function sealedTexts(codec: Codec, run: RunSummary): Pick<RunFile, 'run' | 'sealed'> {
  const { reason, error, input, output, ...rest } = run;
  const text = JSON.stringify({ reason, error, input, output });
  const sealed = codec.encode(text, summaryPlace(run.id));
  return sealed === text ? { run } : { run: rest as RunSummary, sealed };
}

/** What was opened or left out by the one that tells it does not fit the hashes of what is stored. */
function refuseOtherRows({ dataDir }: Config, run: RunId, rows: readonly EventRow[]): void {
  if (rows.length === 0) return;
  try {
    decodeRows(run, rows, identityCodec);
  } catch (cause) {
    if (!(cause instanceof DamagedRunError)) throw cause;
    throw new RunFileError(
      `run ${run} cannot be exported while a process holds ${dataDir}: its records are sealed, or parts of ` +
        'them are redacted, and the process tells them otherwise than they are stored',
      {
        cause,
        hint: 'export it from the store, where it is a task, or once the process has ended',
      },
    );
  }
}

/** The text of an event is what the engine made of it, and comes out the same again. */
function rowOfRecord(run: RunId, { event, seq, at, epoch, state, hash }: StoredRecord): EventRow {
  const data = JSON.stringify(event);
  return { lsn: 0, run, seq, at, epoch, event: event.type, state, data, hash };
}

/** A journal knows its machines by name; what they look like is told by the code, where that is here. */
async function machineHere(
  config: Config,
  records: readonly StoredRecord[],
): Promise<Announcement | undefined> {
  const { machine: name, version: number } = originOf(records);
  const route = routeOf({ name, version: number });
  const found = await loadMachines(config, process.cwd()).catch(() => undefined);
  const plans = found ? new Registry(found.machines).all() : [];
  const plan = plans.find((each) => routeOf(each) === route);
  return plan && announced({ ...plan, route });
}

function announced({ route, fingerprint, shape }: Announcement): Announcement {
  return { route, fingerprint, shape };
}

/** What there is to export of a run: from the store, or from the journal of this host. */
import type { Config } from '../../config/index.ts';
import type { RunSummary } from '../../engine/index.ts';
import { generationOf, type RunFile, summaryPlace } from '../../fleet/run-file/format.ts';
import { announced, headOf, taskFile } from '../../fleet/run-file/task-file.ts';
import { type Codec, identityCodec, type RunId, systemClock } from '../../ground/index.ts';
import {
  DamagedRunError,
  decodeRows,
  type EventRow,
  type StoredRecord,
} from '../../journal/index.ts';
import { originOf, Registry, routeOf } from '../../machine/index.ts';
import type { Announcement, Store, TaskRow } from '../../store/index.ts';
import { withoutPassword } from '../doctor.ts';
import { RunFileError } from '../errors.ts';
import { codecFor } from '../fleet/open.ts';
import { loadMachinesIfAny } from '../machines.ts';

/** The store is one that opens nothing: what is sealed is exported as it is. */
export function gatherTask(config: Config, store: Store, task: TaskRow): Promise<RunFile> {
  const from = { kind: 'store', where: withoutPassword(config.store) ?? '' } as const;
  return taskFile(store, task, headOf(task.id, from, systemClock.now()));
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
    ...headOf(run.id, { kind: 'journal', where: config.dataDir }, systemClock.now()),
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
  const found = await loadMachinesIfAny(config, config.cwd).catch(() => undefined);
  const plans = found ? new Registry(found.machines).all() : [];
  const plan = plans.find((each) => routeOf(each) === route);
  return plan && announced({ ...plan, route });
}

/** What there is to export of a run: from the store, or from the journal of this host. */
import { type Config, version } from '../../config/index.ts';
import type { RunSummary } from '../../engine/index.ts';
import { rowsOf } from '../../fleet/index.ts';
import { type RunId, systemClock } from '../../ground/index.ts';
import type { EventRow, StoredRecord } from '../../journal/index.ts';
import { originOf, Registry, routeOf } from '../../machine/index.ts';
import type { Announcement, Segment, Store, TaskRow } from '../../store/index.ts';
import { withoutPassword } from '../doctor.ts';
import { loadMachines } from '../machines.ts';
import { FORMAT, type Generation, generationOf, KIND, type RunFile } from './format.ts';

/** Redriven more often than this, a task has its newest generations exported. */
const GENERATIONS_MAX = 1_000;
const ASKED_AT_ONCE = 20;

function headOf(id: RunId, from: RunFile['from']): Omit<RunFile, 'generations'> {
  const exportedAt = systemClock.now();
  return { kind: KIND, format: FORMAT, exportedAt, exportedBy: version(), from, id };
}

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

export async function gatherRun(
  config: Config,
  run: RunSummary,
  records: readonly StoredRecord[],
): Promise<RunFile> {
  const rows = records.map((record) => rowOfRecord(run.id, record));
  return {
    ...headOf(run.id, { kind: 'journal', where: config.dataDir }),
    run,
    generations: [generationOf(run.generation ?? 1, rows)],
    machine: records.length === 0 ? undefined : await machineHere(config, records),
  };
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

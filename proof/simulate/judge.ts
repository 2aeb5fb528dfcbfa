/** The whole contract, held against what a simulation has come to once everything was healed. */
import { foldRun } from '../../src/engine/live-run.ts';
import { identityCodec } from '../../src/journal/codec.ts';
import type { EventRow, StoredRecord } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import { violations } from '../../src/store/memory/rules.ts';
import { isEnded, type MemoryTables, type TaskRecord } from '../../src/store/memory/tables.ts';
import { DEADLINE_PASSED, FOLLOWED_NOT_COMPLETED } from '../../src/store/reasons.ts';
import type { CancelCall } from '../history/evidence.ts';
import type { Auditor } from './auditor.ts';
import type { Client, Wanted } from './client.ts';
import type { DeadlineJudge } from './deadline-judge.ts';
import type { Ledger } from './ledger.ts';
import { LifeJudge } from './life-judge.ts';
import type { Outside, Published } from './shapes.ts';
import type { VersionJudge } from './version-judge.ts';
import { expectedOf, planFor, publishedBy } from './versions.ts';
import type { World } from './world.ts';

/** Endings that the store itself writes, without a record of the run's own. */
const BY_THE_STORE = ['crashLoop', 'cancelled'];

function isByTheStore({ outcome = '', error }: TaskRecord): boolean {
  return BY_THE_STORE.includes(outcome) || error === DEADLINE_PASSED;
}

/** The store itself has cancelled it; whether it had to is judged when it does. */
function isByWhatItFollows({ follows, error }: TaskRecord): boolean {
  return follows !== undefined && error === FOLLOWED_NOT_COMPLETED;
}

/** What is to be known of hosts, where tasks belong to them. */
export interface Hosts {
  /** Somebody has the disk of this journal. */
  hasDisk(journal: string): boolean;
  /** It has lost what it had acknowledged. */
  isLossy(journal: string): boolean;
  /** Its run sleeps until a clock that was set says that it is time. */
  isFarOff(journal: string, run: string): boolean;
  /** Its holder has yet to wait for its deadline, which is far off by a clock of the store that was set. */
  hasTime(task: TaskRecord): boolean;
}

const NONE: Hosts = {
  hasDisk: () => true,
  isLossy: () => false,
  isFarOff: () => false,
  hasTime: () => false,
};

/**
 * A disk is gone, or a clock was set, that it has to wait for: nobody can do anything about it. The same
 * of one whose turn comes after such a one.
 */
export function waitsInVain(tables: MemoryTables, task: TaskRecord, hosts: Hosts): boolean {
  const { taskId, status, waitFor, pinnedTo } = task;
  if (waitFor === 'run' || waitFor === 'turn') {
    return before(tables, task).some((other) => waitsInVain(tables, other, hosts));
  }
  if (pinnedTo === undefined) return hosts.hasTime(task);
  if (hosts.hasDisk(pinnedTo)) return hosts.isFarOff(pinnedTo, taskId);
  return status === 'waiting' && waitFor === 'host';
}

/** Those that have to end before it may begin. */
function before(tables: MemoryTables, { waitFor, follows, ...task }: TaskRecord): TaskRecord[] {
  const isBefore = (other: TaskRecord) =>
    waitFor === 'run'
      ? other.taskId === follows?.run
      : other.queue === task.queue &&
        other.serialKey === task.serialKey &&
        other.waitFor !== 'turn';
  return tables.tasksWhere((other) => !isEnded(other) && isBefore(other));
}

export function judge(
  world: World,
  auditor: Auditor,
  client: Pick<Client, 'wanted'>,
  outside: Outside,
  ledger: Pick<Ledger, 'effectsOf' | 'versions'>,
  hosts: Hosts = NONE,
): void {
  const { tables } = world;
  const wantedBy = new Map(
    client.wanted.map((wanted) => [wanted.id as string | undefined, wanted]),
  );
  for (const { rule, examples } of violations(tables)) {
    world.violate('structure', `${rule}: ${examples[0]}`);
  }
  for (const wanted of client.wanted) {
    if (!world.rewound.has(wanted.id ?? '')) judgeWanted(world, wanted);
  }
  auditor.rewinds.judge();
  const done = effectsByRun(outside);
  const lives = new LifeJudge(world, auditor.rows.deaths);
  for (const task of tables.tasks.values()) {
    if (waitsInVain(tables, task, hosts)) continue;
    if (!isEnded(task)) {
      world.violate('I37', `${task.taskId} is ${task.status}${holderOf(task)}`);
      continue;
    }
    if (isOfTheHost(task, hosts)) continue;
    auditor.deadlines.ended(task, world.healedMs);
    judgeOutcome(world, task, wantedBy.get(task.taskId), auditor.deadlines);
    const rows = auditor.acceptedRows(task.taskId, task.generation);
    const records = judgeHistory(world, task, rows, ledger.versions);
    judgeEffects(world, task, done.get(task.taskId) ?? []);
    // What was lost of it, attempts among that, cannot be counted.
    if (world.rewound.has(task.taskId)) continue;
    lives.judge(task, {
      changes: auditor.rows.changes.get(task.taskId) ?? [],
      effects: ledger.effectsOf(task.taskId),
      cancels: cancelsOf(task, wantedBy.get(task.taskId)),
      records,
    });
  }
}

function cancelsOf(row: TaskRecord, wanted: Wanted | undefined): CancelCall[] {
  const task = row.taskId;
  if (isByWhatItFollows(row)) return [{ task, answer: 'done' }];
  if (!wanted || wanted.cancelled === 'no') return [];
  return [{ task, answer: wanted.answer }];
}

/** What a host does for the fleet, and runs of its own whose records its disk has lost. */
function isOfTheHost({ machine, pinnedTo }: TaskRecord, hosts: Hosts): boolean {
  if (pinnedTo === undefined) return false;
  return machine.startsWith('recovery/') || !hosts.hasDisk(pinnedTo) || hosts.isLossy(pinnedTo);
}

function holderOf({ claimedBy, waitFor }: TaskRecord): string {
  return claimedBy ? ` by ${claimedBy}` : waitFor ? ` for ${waitFor}` : '';
}

function judgeWanted(world: World, { id, ending, cancelled, isLeftAlone }: Wanted): void {
  if (!id) return;
  const row = world.tables.tasks.get(id);
  if (!row) return world.violate('I1', `${id} was acknowledged, and is gone`);
  if (cancelled === 'done' && row.status !== 'cancelled') {
    world.violate('cancel', `${id} was said to be cancelled, and is ${row.status}`);
  }
  if (!isEnded(row) || isLeftAlone) return;
  if (!ending) return world.violate('I37', `nobody was told that ${id} has ended`);
  // What was heard was the end of its first generation.
  if (row.generation > 1) return;
  const result = ending.output === undefined ? undefined : JSON.stringify(ending.output);
  if (result !== row.result) world.violate('I4', `${id} told ${result}, and has ${row.result}`);
}

function judgeOutcome(
  world: World,
  task: TaskRecord,
  wanted: Wanted | undefined,
  deadlines: DeadlineJudge,
): void {
  const { taskId, machine, version, status, outcome = '', result, crashes, error } = task;
  const { n } = JSON.parse(task.payload ?? '{}') as { n: number };
  const wants = expectedOf(machine, version, n);
  const fault = (how: string) => world.violate('outcome', `${machine} ${taskId} ${how}`);
  world.count(`ended ${outcome}`);
  if (outcome === 'crashLoop') {
    if (crashes < 3) fault(`was given up after ${crashes} crashes`);
    return;
  }
  if (status === 'cancelled') {
    if (isByWhatItFollows(task)) return;
    // Of one that was never acknowledged nobody can have asked.
    if ((wanted?.cancelled ?? 'no') === 'no') fault('was cancelled, and nobody had asked');
    return;
  }
  const mayComplete = outcome === 'completed' && !deadlines.isSettled(taskId);
  if (!mayComplete && !wants.outcomes.includes(outcome))
    return fault(`ended as ${outcome}: ${error}`);
  if (outcome === 'exhausted' || outcome === 'timedOut') return;
  if (wants.result !== undefined && result !== String(wants.result)) {
    fault(`came to ${result}, not to ${wants.result}`);
  }
}

/**
 * I13, I16: one line of records, whose hashes fit, that leads to where the task has ended. Answers
 * with the records, where they can be read.
 */
function judgeHistory(
  world: World,
  task: TaskRecord,
  rows: readonly EventRow[],
  versions: VersionJudge,
): readonly StoredRecord[] | undefined {
  const { taskId, machine } = task;
  if (rows.length === 0 && isByTheStore(task)) return undefined;
  try {
    const records = decodeRows(taskId, rows, identityCodec);
    const isUnheard = isByTheStore(task) && task.lastSeq !== records.at(-1)?.seq;
    const version = versions.ended(task, records, isUnheard);
    judgeEnd(world, task, version, records);
    return records;
  } catch (error) {
    world.violate('I13', `${machine} ${taskId} ${(error as Error).message}`);
    return undefined;
  }
}

function judgeEnd(
  world: World,
  task: TaskRecord,
  version: number,
  records: readonly StoredRecord[],
): void {
  const { taskId, machine, outcome = '', lastSeq } = task;
  const fault = (how: string) => world.violate('I13', `${machine} ${taskId} ${how}`);
  const run = foldRun(planFor(machine, version), taskId, 0, records);
  if (typeof run === 'string') return fault(run);
  if (isByTheStore(task)) return;
  if (run.state.ending?.outcome !== outcome) {
    fault(`ended as ${outcome}, and its records at ${run.state.at}`);
  }
  if (lastSeq !== run.seq) fault(`was settled at ${lastSeq}, and its records end at ${run.seq}`);
}

function effectsByRun({ published }: Outside): Map<string, (readonly Published[])[]> {
  const done = new Map<string, (readonly Published[])[]>();
  for (const entries of published.values()) {
    const run = entries[0]!.run;
    done.set(run, [...(done.get(run) ?? []), entries]);
  }
  return done;
}

/** What it says it has done is done, and nothing else. */
function judgeEffects(
  world: World,
  { taskId, machine, version, status }: TaskRecord,
  done: readonly (readonly Published[])[],
): void {
  const steps = done.map(([first]) => first!.step);
  if (new Set(steps).size !== steps.length) {
    world.violate('keys', `${taskId} has several idempotency keys for one step`);
  }
  for (const entries of done) {
    if (entries.some(({ value }) => value !== entries[0]!.value)) {
      world.violate('effects', `${taskId} has published different values`);
    }
    world.count('effects');
    world.count('effects repeated', entries.length - 1);
  }
  const missing = publishedBy(machine, version).filter((step) => !steps.includes(step));
  if (status === 'completed' && missing.length > 0) {
    world.violate('effects', `${taskId} is completed, and ${missing[0]} was never published`);
  }
}

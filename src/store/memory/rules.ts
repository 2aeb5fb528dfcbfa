/** The rules of the tables, as questions. SQL stores have most of them as constraints too. */
import type { Violation } from '../tasks.ts';
import { RECOVERY_PREFIX } from '../words.ts';
import { isEnded, type MemoryTables, type TaskRecord } from './tables.ts';
import { keyOf as keyOfTurn } from './turns.ts';

const EXAMPLE_COUNT_MAX = 5;

type Rule = readonly [
  rule: string,
  isBroken: (task: TaskRecord, tables: MemoryTables, twins: ReadonlySet<string>) => boolean,
];

const RULES: readonly Rule[] = [
  [
    'claimed tasks have an owner, and no others do',
    (task) => (task.status === 'claimed') !== (task.claimedBy !== undefined),
  ],
  ['claimed tasks have an epoch', (task) => task.status === 'claimed' && task.claimEpoch < 1],
  [
    'owners of claimed tasks are up, draining or dead',
    (task, tables) =>
      task.claimedBy !== undefined && !tables.isPod(task.claimedBy, 'up', 'draining', 'dead'),
  ],
  [
    'ended tasks have a finish time, and no others do',
    (task) => isEnded(task) !== (task.finishedAt !== undefined),
  ],
  [
    'waiting tasks have a reason, and no others do',
    (task) => (task.status === 'waiting') !== (task.waitFor !== undefined),
  ],
  [
    'an open task is one that a pod can run',
    (task) =>
      !isEnded(task) &&
      (task.version < 1 ||
        (task.machine.startsWith(RECOVERY_PREFIX) && task.pinnedTo === undefined)),
  ],
  ['due times are numbers', (task) => Number.isNaN(task.runAt)],
  ['failed tasks have an error', (task) => task.status === 'failed' && task.error === undefined],
  [
    'only failed tasks are discarded',
    (task) => task.discardedAt !== undefined && task.status !== 'failed',
  ],
  [
    'ended and waiting tasks have their history',
    (task, tables) =>
      (isEnded(task) || task.status === 'waiting') &&
      task.lastSeq >= 0 &&
      !isRecorded(tables, task),
  ],
  [
    'what has a serial key has its turn, waits for it, or has ended',
    (task) =>
      task.serialKey !== undefined && !task.serialHeld && task.waitFor !== 'turn' && !isEnded(task),
  ],
  [
    'a serial key has one holder',
    (task, tables) =>
      task.serialHeld &&
      tables.tasksWhere((other) => other.serialHeld && keyOfTurn(other) === keyOfTurn(task))
        .length > 1,
  ],
  [
    'a key stands for one task of its machine',
    (task, _, twins) => task.key !== undefined && twins.has(keyOf(task)),
  ],
];

function keyOf({ machine, key }: TaskRecord): string {
  return `${machine}\n${key}`;
}

/** Keys that stand for several tasks. */
function twinsIn(tables: MemoryTables): ReadonlySet<string> {
  const [seen, twins] = [new Set<string>(), new Set<string>()];
  for (const task of tables.tasksWhere(({ key }) => key !== undefined)) {
    const key = keyOf(task);
    if (seen.has(key)) twins.add(key);
    seen.add(key);
  }
  return twins;
}

function isRecorded(tables: MemoryTables, { taskId, generation, lastSeq }: TaskRecord): boolean {
  return tables.events
    .of(taskId)
    .some(
      (segment) =>
        segment.generation === generation &&
        segment.firstSeq <= lastSeq &&
        segment.lastSeq >= lastSeq,
    );
}

export function violations(tables: MemoryTables): Violation[] {
  const twins = twinsIn(tables);
  // Hardly ever is there one, and this is asked often: all rules in one pass, before each by itself.
  const isAnyBroken = (task: TaskRecord) =>
    RULES.some(([, isBroken]) => isBroken(task, tables, twins));
  const suspects = tables.tasksWhere(isAnyBroken);
  if (suspects.length === 0) return [];
  return RULES.flatMap(([rule, isBroken]) => {
    const broken = suspects.filter((task) => isBroken(task, tables, twins));
    if (broken.length === 0) return [];
    const examples = broken.slice(0, EXAMPLE_COUNT_MAX).map(({ taskId }) => taskId);
    return [{ rule, count: broken.length, examples }];
  });
}

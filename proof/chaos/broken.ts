/**
 * What there is of tasks of which a rule was broken, a line for each, so that a flake can be understood
 * from what a run leaves behind: its row, records and changes, what was done and asked, the lives of
 * the pods it was with, and what they logged of it.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Effect, PodLife, StoreCall, TaskFile } from '../history/evidence.ts';
import { linesOf } from './judge-calls.ts';

/** More of them would hardly tell more. */
const TASK_COUNT_MAX = 5;
const LOG_LINES_MAX = 200;

/** A finding names its rule, where it has one, and then its task. */
const TASK_NAMED = /(?:^|: )([0-9A-Z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):/;

export interface Evidence {
  /** What the rules say, in words. */
  readonly examples: readonly string[];
  /** Where to keep it; not asked for where nothing was broken. */
  readonly directory: () => string;
  readonly ledgers: readonly string[];
  readonly pods: readonly PodLife[];
  readonly read: (each: (file: TaskFile) => void) => Promise<void>;
}

/** Answers where it is, or undefined where nothing was broken that has a task. */
export async function keepBroken(evidence: Evidence): Promise<string | undefined> {
  const said = new Map<string, string[]>();
  for (const words of evidence.examples) {
    const task = TASK_NAMED.exec(words)?.[1];
    if (task === undefined || (said.size >= TASK_COUNT_MAX && !said.has(task))) continue;
    said.set(task, [...(said.get(task) ?? []), words]);
  }
  if (said.size === 0) return undefined;
  const files = new Map<string, TaskFile>();
  await evidence.read((file) => {
    if (said.has(file.row.task)) files.set(file.row.task, file);
  });
  const place = join(evidence.directory(), 'broken.jsonl');
  for (const [task, broken] of said) {
    appendFileSync(place, `${JSON.stringify(lineOf(task, broken, files.get(task), evidence))}\n`);
  }
  return place;
}

function lineOf(
  task: string,
  broken: readonly string[],
  file: TaskFile | undefined,
  { ledgers, pods }: Evidence,
): object {
  const calls = [...linesOf<StoreCall>(ledgers.map((ledger) => `${ledger}.calls`))]
    .filter((call) => call.tasks.some((each) => each.task === task))
    .map((call) => ({ ...call, tasks: call.tasks.filter((each) => each.task === task) }));
  const effects = [...linesOf<Effect>(ledgers)].filter((effect) => effect.task === task);
  const owners = new Set(file?.changes.flatMap(({ owner, wasOwner }) => [owner, wasOwner]));
  const segments = file?.segments.map(({ events, ...rest }) => ({
    ...rest,
    events: JSON.parse(events) as unknown,
  }));
  return {
    task,
    broken,
    row: file?.row,
    changes: file?.changes,
    segments,
    effects,
    calls,
    pods: pods.filter(({ pod }) => owners.has(pod)),
    logged: ledgers.flatMap((ledger) => loggedOf(ledger, task)),
  };
}

/** A pod's log lies beside its ledger. */
function loggedOf(ledger: string, task: string): string[] {
  const log = ledger.replace(/\.[^./]+$/, '.log');
  let text: string;
  try {
    text = readFileSync(log, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const lines = text.split('\n').filter((line) => line.includes(task));
  return lines.slice(-LOG_LINES_MAX).map((line) => `${basename(log)}: ${line}`);
}

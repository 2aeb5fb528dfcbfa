/** Whether a value has the form of an exported run: a file comes from anywhere, seals and all. */

import type { SealedFile } from '../../fleet/run-file/format.ts';
import { STYLE_OF_TASK } from '../fleet/task-view.ts';
import { WORD_OF_STATUS } from '../shape.ts';

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

/** Within what a date can be, so that it can be shown as one. */
const DATE_MS_MAX = 8.64e15;
const GENERATIONS_MAX = 10_000;

const text: Check = (value) => typeof value === 'string';
const number: Check = (value) => Number.isFinite(value) && Math.abs(Number(value)) <= DATE_MS_MAX;
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const wordOf =
  (known: object): Check =>
  (value) =>
    text(value) && Object.hasOwn(known, value as string);

function has(value: unknown, checks: Readonly<Record<string, Check>>): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(checks).every(([name, check]) =>
    check(Object.hasOwn(value, name) ? (value as Fields)[name] : undefined),
  );
}

const TASK: Readonly<Record<string, Check>> = {
  ...{ id: text, machine: text, queue: text, status: wordOf(STYLE_OF_TASK) },
  ...{ version: number, generation: number, priority: number, retryCount: number },
  ...{ crashes: number, claims: number, runAt: number, createdAt: number, updatedAt: number },
  ...{ finishedAt: maybe(number), discardedAt: maybe(number), deadlineAt: maybe(number) },
  ...{ outcome: maybe(text), waitFor: maybe(text), claimedBy: maybe(text), key: maybe(text) },
  ...{ control: maybe(text), pinnedTo: maybe(text), payload: maybe(text), result: maybe(text) },
  error: maybe(text),
};

const RUN: Readonly<Record<string, Check>> = {
  ...{ id: text, machine: text, state: text, status: wordOf(WORD_OF_STATUS) },
  ...{ version: number, attempt: number, startedAt: number, updatedAt: number },
  ...{ finishedAt: maybe(number), dueAt: maybe(number) },
  ...{ outcome: maybe(text), key: maybe(text), reason: maybe(text) },
  error: maybe((value) => has(value, { name: text, message: text })),
  progress: maybe((value) => has(value, { fraction: number, note: maybe(text) })),
};

const isRecord: Check = (value) => typeof value === 'object' && value !== null;

const isGeneration: Check = (value) =>
  has(value, {
    generation: number,
    lastSeq: number,
    records: (records) => Array.isArray(records) && records.every(isRecord),
  });

export function isRunFile(value: Fields): value is Fields & SealedFile {
  const { id, task, run, generations } = value;
  const of = task ?? run;
  return (
    has(value, {
      ...{ exportedAt: number, exportedBy: text, seal: text, sealed: maybe(text) },
      from: (from) => has(from, { kind: text, where: text }),
      generations: (all) =>
        Array.isArray(all) && all.length <= GENERATIONS_MAX && all.every(isGeneration),
    }) &&
    (task === undefined) !== (run === undefined) &&
    has(of, task === undefined ? RUN : TASK) &&
    (of as Fields)['id'] === id &&
    (generations as unknown[]).length > 0
  );
}

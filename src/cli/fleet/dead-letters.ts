/**
 * fleetq dead-letters list | show | redrive | discard: tasks that failed for good. The store has them
 * all; each change names the generation that was seen, so that it is made once however often it is
 * asked for.
 */
import { LIMIT_MAX } from '../../admin/index.ts';
import { TaskNotFoundError } from '../../fleet/index.ts';
import { isoTime, type RunId, show, showDuration } from '../../ground/index.ts';
import {
  generationSeen,
  type Revision,
  revisionOf,
  type Store,
  type TaskRow,
} from '../../store/index.ts';
import type { Execute, Options } from '../command.ts';
import { NoDeadLetterError, UsageError } from '../errors.ts';
import { showRecord } from '../events.ts';
import { Exit } from '../exit.ts';
import { termOf } from '../filter.ts';
import { given, pageNotes } from '../next-page.ts';
import { countOf, idOf } from '../runs.ts';
import { recordWithoutSecrets, withoutSecrets } from '../shown.ts';
import type { Column } from '../table.ts';
import { actOn, sayAct } from './acting.ts';
import { recordsOf } from './history.ts';
import { placeOf } from './list-tasks.ts';
import { codecFor, withReader, withStore } from './open.ts';
import { redriveMany } from './redrive-many.ts';
import { errorText, showTask, type TaskView, viewOf } from './task-view.ts';

export const list: Execute = async ({ config, output }, options) => {
  const countMax = countOf(options['limit'], '--limit', LIMIT_MAX);
  const machine = options['machine'] as string | undefined;
  const filter = {
    terms: [
      termOf('is', 'dead-letter'),
      ...(machine === undefined ? [] : [termOf('machine', machine)]),
    ],
  };
  const place = placeOf(options);
  const { tasks, now, ...page } = await withReader(config, async (reader) => ({
    ...(await reader.page({ filter, ...place, countMax })),
    now: await reader.now(),
  }));
  const found = tasks.map((row) => withoutSecrets(viewOf(row), output.redact));
  if (output.isJson) output.json({ deadLetters: found, ...page });
  else if (found.length > 0) output.table(found, columns(now));
  else output.note('no dead letters');
  const command = ['dead-letters', 'list', ...given(options, ['machine', 'limit'])];
  if (!output.isJson) for (const note of pageNotes({ command, ...page })) output.note(note);
  return found.length > 0 ? Exit.ok : Exit.nothingFound;
};

/** The task, why it failed, and its records as far as the store has them. */
export const showOne: Execute = async ({ config, output }, _, task) => {
  idOf(task, 'the argument');
  return withStore(config, async (store) => {
    const row = await find(store, task!);
    const records = await recordsOf(store, row, -1, codecFor(config)).catch(
      (error: Error) => error,
    );
    const view = withoutSecrets(viewOf(row), output.redact);
    if (output.isJson) {
      const found = records instanceof Error ? [] : records;
      const events = found.map((record) => recordWithoutSecrets(record, output.redact));
      output.json({ ...view, isDeadLetter: isDeadLetter(row), events });
      return Exit.ok;
    }
    showTask(view, output);
    if (records instanceof Error) output.note(`\n${records.message}`);
    else if (records.length > 0) {
      output.line('');
      for (const record of records) showRecord(record, output);
    }
    output.note(
      isDeadLetter(row) ? `\n${againWith(row)}` : `\nit is no dead letter now: it is ${row.status}`,
    );
    return Exit.ok;
  });
};

/** One is redriven here and now; several, or all of a machine, by a pod where one answers. */
export const redrive: Execute = async (context, options, ...words) => {
  const tasks = words.flat() as RunId[];
  const machine = options['machine'] as string | undefined;
  for (const task of tasks) idOf(task, 'the argument');
  if (tasks.length > 0 === (machine !== undefined)) {
    throw new UsageError('name tasks, or a machine with --machine');
  }
  if (tasks.length === 1) return redriveOne(context, options, tasks[0]!);
  if (options['generation'] !== undefined) {
    throw new UsageError('--generation is for one task: several are taken as they are now');
  }
  const [isFresh, isDryRun] = [options['fresh'] === true, options['dryRun'] === true];
  return withStore(context.config, (store) =>
    redriveMany(store, context, { tasks, machine, isFresh, isDryRun }),
  );
};

const redriveOne: Execute = async ({ config, output }, options, task) => {
  const deed = { what: 'redrive', isFresh: options['fresh'] === true } as const;
  return withStore(config, async (store) => {
    const row = await find(store, task!);
    refuseOthers(options, row);
    const acted = await actOn(store, row.id, deed, options, seenOf(options, row));
    const after = 'after' in acted.answer ? acted.answer.after.revision.split('.')[0] : '';
    const done = `redriven as generation ${after}`;
    return sayAct(output, row.id, deed, acted, { done, requested: done, already: done });
  });
};

export const discard: Execute = async ({ config, output }, options, task) => {
  idOf(task, 'the argument');
  const deed = { what: 'discard' } as const;
  return withStore(config, async (store) => {
    const row = await find(store, task!);
    const acted = await actOn(store, row.id, deed, options, seenOf(options, row));
    return sayAct(output, row.id, deed, acted, {
      done: 'discarded',
      requested: 'discarded',
      already: 'was discarded before',
    });
  });
};

async function find(store: Store, task: string): Promise<TaskRow> {
  const [row] = await store.find([task as RunId]);
  if (!row) throw new TaskNotFoundError(task);
  return row;
}

function isDeadLetter({ status, discardedAt }: TaskRow): boolean {
  return status === 'failed' && discardedAt === undefined;
}

/** What the person has seen: told with --generation, else what there is right now. */
function seenOf(options: Options, row: TaskRow): Revision | undefined {
  const text = options['generation'];
  // Whoever sends a request again has seen it before that was done.
  if (text === undefined) return options['requestId'] ? undefined : revisionOf(row);
  if (typeof text === 'string' && /^[1-9]\d{0,8}$/.test(text)) return generationSeen(Number(text));
  throw new UsageError(`--generation must be a whole number from 1, got ${show(text)}`);
}

function againWith({ id, pinnedTo }: TaskRow): string {
  return pinnedTo === undefined
    ? `try it again with: fleetq dead-letters redrive ${id}`
    : 'it was started locally: start it anew';
}

/** Others have ended too, and are not for here; a request that is sent again knows what it wants. */
function refuseOthers(options: Options, row: TaskRow): void {
  if (isDeadLetter(row) || options['requestId'] !== undefined) return;
  const why =
    row.discardedAt === undefined
      ? `is no dead letter: it is ${row.status}`
      : `was discarded at ${isoTime(row.discardedAt)}`;
  throw new NoDeadLetterError(`${row.id} ${why}`);
}

function columns(now: number): Column<TaskView>[] {
  return [
    { head: 'TASK', text: ({ id }) => id },
    { head: 'MACHINE', text: ({ machine, version }) => `${machine}@${version}`, isElastic: true },
    { head: 'OUTCOME', text: ({ outcome }) => outcome ?? 'failed', style: () => 'red' },
    { head: 'GEN', text: ({ generation }) => `${generation}`, align: 'right' },
    {
      head: 'FAILED',
      text: ({ finishedAt }) => `${showDuration(Math.max(0, now - (finishedAt ?? now)))} ago`,
      data: ({ finishedAt }) => isoTime(finishedAt ?? now),
      align: 'right',
    },
    { head: 'WHY', text: ({ error }) => errorText(error) ?? '', isElastic: true },
  ];
}

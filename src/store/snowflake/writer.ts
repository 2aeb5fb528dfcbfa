/**
 * Writes what a desk has changed: row by row where each stands for itself, or all or nothing in a
 * transaction where they belong together. History goes first: records under an epoch harm nobody,
 * whatever becomes of the rest, and are found there when it is done again.
 */
import type { Random } from '../../ground/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../errors.ts';
import { type Cells, keyOf, RUN_EVENTS, recordOf, STEP_TRACKER, type Table } from './columns.ts';
import type { Change, Desk } from './desk.ts';
import { DuplicateKeyError } from './driver-errors.ts';
import type { Bind } from './executor.ts';
import type { Line, Run } from './sessions.ts';
import { LIST_MAX } from './sql.ts';
import { FENCES, PUT_FENCES, putSegments, TEXTS, WRITE_ORDER } from './statements.sql.ts';

export interface Writing {
  /** Keys are kept by the account; otherwise by a statement that takes the table's lock. */
  readonly isHybrid: boolean;
  /** All of it or nothing; otherwise each row by itself. */
  readonly isWhole: boolean;
  /** Tasks are changed only while this pod is so. */
  readonly fence?: { readonly pod: string; readonly is: 'up' | 'live' } | undefined;
}

/** Somebody has written since: what was decided counts for nothing, and is decided again. */
export class OvertakenError extends StoreBusyError {
  constructor() {
    super('other statements were faster every time', { hint: 'it may be sent again' });
  }
}

/** What the account likes to be sent at once. */
const BIND_CHARS_MAX = 800_000;

/** Answers the ids of the tasks that were written. */
export async function write(
  line: Line,
  desk: Desk,
  random: Random,
  writing: Writing,
): Promise<ReadonlySet<string>> {
  const history = desk.changes(RUN_EVENTS);
  const parts = WRITE_ORDER.filter((table) => table !== RUN_EVENTS)
    .map((table) => [table, desk.changes(table)] as const)
    .filter(([, changes]) => changes.length > 0);
  const count = history.length + parts.reduce((sum, [, changes]) => sum + changes.length, 0);
  if (count === 0) return new Set();
  const isOneStatement =
    history.length === 0 && parts.length === 1 && isOneInsert(parts[0]![1], writing);
  const send = async (run: Run) => {
    await writeHistory(run, history, random, writing);
    return writeAll(run, parts, random, writing);
  };
  const isAlone = count === 1 || isOneStatement;
  return writing.isWhole && !isAlone ? line.transaction(send) : send(line.run);
}

/** One statement that fails as a whole needs no transaction. */
function isOneInsert(changes: readonly Change[], { isHybrid }: Writing): boolean {
  return (
    isHybrid && changes.every(({ what }) => what === 'insert') && batches(changes).length === 1
  );
}

async function writeHistory(
  run: Run,
  changes: readonly Change[],
  random: Random,
  { fence }: Writing,
): Promise<void> {
  const removed = changes.filter(({ what }) => what === 'delete');
  const put = changes.filter(({ what }) => what !== 'delete');
  for (const batch of batches(removed)) {
    await run(TEXTS.get(RUN_EVENTS)!.delete, [bindOf(batch, random.hex(16))]);
  }
  for (const batch of batches(put)) {
    const bind = bindOf(batch, random.hex(16));
    const { count } = fence
      ? await run(PUT_FENCES[fence.is], [bind, fence.pod])
      : await run(putSegments, [bind]);
    if (count !== batch.length) throw new OvertakenError();
  }
}

async function writeAll(
  run: Run,
  parts: readonly (readonly [Table, readonly Change[]])[],
  random: Random,
  writing: Writing,
): Promise<ReadonlySet<string>> {
  const tasks = new Set<string>();
  for (const [table, changes] of parts) {
    for (const [text, batch] of statementsOf(table, changes, writing)) {
      const written = await writeBatch(run, table, text, batch, random, writing);
      if (writing.isWhole && written.size < batch.length) throw new OvertakenError();
      if (table === STEP_TRACKER) {
        for (const { key, cells } of batch) if (written.has(key)) tasks.add(`${cells['task_id']}`);
      }
    }
  }
  return tasks;
}

function* statementsOf(
  table: Table,
  changes: readonly Change[],
  { isHybrid, fence }: Writing,
): Iterable<readonly [text: string, batch: readonly Change[]]> {
  const texts = TEXTS.get(table)!;
  const of = (is: (change: Change) => boolean) => batches(changes.filter(is));
  const isLight = (change: Change) => change.what === 'update' && change.isLight;
  const light = table === STEP_TRACKER && fence ? FENCES[fence.is] : texts.updateLight;
  for (const batch of of(isLight)) yield [light, batch];
  for (const batch of of((one) => one.what === 'update' && !one.isLight))
    yield [texts.update, batch];
  for (const batch of of(({ what }) => what === 'delete')) yield [texts.delete, batch];
  const insert = isHybrid ? texts.insert : texts.insertMissing;
  for (const batch of of(({ what }) => what === 'insert')) yield [insert, batch];
}

/** The keys that were written. A statement is all done or not at all, so one row proves it. */
async function writeBatch(
  run: Run,
  table: Table,
  text: string,
  batch: readonly Change[],
  random: Random,
  { fence }: Writing,
): Promise<ReadonlySet<string>> {
  const rev = random.hex(16);
  const isFenced = fence !== undefined && text === FENCES[fence.is];
  const binds: Bind[] = [bindOf(batch, rev), ...(isFenced ? [fence.pod] : [])];
  try {
    const { count } = await run(text, binds);
    if (count === batch.length) return new Set(batch.map(({ key }) => key));
    return count === 0 ? new Set() : await written(run, table, rev);
  } catch (error) {
    if (error instanceof DuplicateKeyError) throw new OvertakenError();
    if (!(error instanceof StoreUnreachableError)) throw error;
    const found = await written(run, table, rev).catch(() => new Set<string>());
    if (found.size === 0) throw error;
    return found;
  }
}

async function written(run: Run, table: Table, rev: string): Promise<ReadonlySet<string>> {
  const { rows } = await run(TEXTS.get(table)!.written, [rev]);
  return new Set(rows.map((row) => keyOf(table, recordOf<object>(table, row))));
}

function bindOf(batch: readonly Change[], rev: string): string {
  return JSON.stringify(batch.map(({ cells, was }) => ({ ...cells, rev, was })));
}

function batches(changes: readonly Change[]): Change[][] {
  const all: Change[][] = [];
  let chars = 0;
  for (const change of changes) {
    const size = sizeOf(change.cells);
    const last = all.at(-1);
    if (last && last.length < LIST_MAX && chars + size <= BIND_CHARS_MAX) {
      last.push(change);
      chars += size;
    } else {
      all.push([change]);
      chars = size;
    }
  }
  return all;
}

function sizeOf(cells: Cells): number {
  return JSON.stringify(cells).length;
}

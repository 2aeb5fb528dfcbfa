/** What people change, each change with its row in the audit log. What it is, is decided elsewhere. */
import { assert, isoTime } from '../../ground/index.ts';
import type { Act, ActAnswer, Deed, Note } from '../acts.ts';
import { isNoted, judge, refuseLongNote, refuseUnbounded } from '../audit.ts';
import type { Change, Patch, Subject } from '../decision.ts';
import { StoreRefusedError } from '../errors.ts';
import { hasToldItsEnd, histories, OUTCOME_STATE, put } from './archive.ts';
import { taskRowOf } from './rows.ts';
import { isEnded, type MemoryTables, refuseUnstorable, type TaskRecord } from './tables.ts';

export function act(tables: MemoryTables, act: Act): ActAnswer {
  refuseUnbounded(act);
  refuseUnstorable(act.requestId, act.who, act.via, ...textsOf(act.deed));
  const row = tables.tasks.get(act.task);
  const logged = tables.audit.get(act.requestId);
  const now = tables.now();
  const { answer, write } = judge(act, {
    logged: logged && { what: logged.what, task: logged.taskId, detail: logged.detail },
    task: row && subjectOf(tables, row),
    now,
    isFenced: isFenced(tables, act),
  });
  if (!write) return answer;
  const { requestId: id, who, deed, task: taskId } = act;
  if (deed.what === 'fork') fork(tables, row!, deed, write.change.forkDeadlineMs);
  if (write.change.keepsOutcome) keepOutcome(tables, row!);
  apply(tables, row!, write.change);
  tables.audit.set(id, { id, at: now, who, what: deed.what, taskId, detail: write.detail });
  return answer;
}

function isFenced(tables: MemoryTables, { bulk, isDryRun }: Act): boolean {
  if (!bulk || isDryRun) return false;
  const row = tables.bulks.get(bulk.id);
  return row?.epoch !== bulk.epoch || row.status !== 'running';
}

export function note(tables: MemoryTables, given: Note): boolean {
  const { requestId: id, who, what, task: taskId } = refuseLongNote(given);
  const detail = JSON.stringify(given.detail);
  refuseUnstorable(id, who, what, detail);
  const logged = tables.audit.get(id);
  if (isNoted(given, logged && { ...logged, task: logged.taskId })) return true;
  tables.audit.set(id, { id, at: tables.now(), who, what, taskId, detail });
  return false;
}

function textsOf(deed: Deed): readonly (string | undefined)[] {
  switch (deed.what) {
    case 'cancel':
      return [deed.reason];
    case 'redrive':
      return [deed.payload];
    case 'fork':
      return [deed.as, deed.payload, deed.records, deed.state, deed.lastHash];
    default:
      return [];
  }
}

function subjectOf(tables: MemoryTables, row: TaskRecord): Subject {
  const { taskId: task, generation, keyMs, keyGeneration, begunAt, putOffMs } = row;
  return {
    ...taskRowOf(row),
    keyMs,
    keyGeneration,
    begunAt,
    putOffMs,
    isSerial: row.serialKey !== undefined,
    hasToldItsEnd: hasToldItsEnd(tables, row),
    hasRecords: histories(tables, [{ task, generation }]).length > 0,
  };
}

/** The columns that have other names here. */
const NAMES: Partial<Record<keyof Patch, keyof TaskRecord>> = {
  epoch: 'claimEpoch',
  isPaused: 'paused',
  interruption: 'interrupted',
  carriesFrom: 'carryFrom',
  isSerialHeld: 'serialHeld',
};

function apply(tables: MemoryTables, row: TaskRecord, { patch }: Change): void {
  const names = Object.keys(patch) as (keyof Patch)[];
  if (names.length === 0) return;
  const before = row.generation;
  Object.assign(row, Object.fromEntries(names.map((name) => [NAMES[name] ?? name, patch[name]])));
  const now = tables.now();
  row.lastUpdate = now;
  if (row.generation !== before) {
    row.begunAt = now;
    row.recordedAt = undefined;
  }
  if (row.status !== 'claimed') tables.hint(isEnded(row) ? 'ended' : 'ready');
}

/** The row forgets how this generation ended, so the history has to know. */
function keepOutcome(tables: MemoryTables, row: TaskRecord): void {
  const { taskId: task, generation, claimEpoch: epoch, status, outcome, error } = row;
  const { lastHash = '' } = row;
  // Behind whatever was flushed in this epoch: a segment that is there is never written over.
  const flushed = histories(tables, [{ task, generation }])
    .filter((segment) => segment.epoch === epoch)
    .map(({ lastSeq }) => lastSeq);
  const seq = Math.max(row.lastSeq, ...flushed) + 1;
  const finishedAt = isoTime(row.finishedAt!);
  const forked = put(tables, {
    task,
    generation,
    epoch,
    firstSeq: seq,
    lastSeq: seq,
    prevHash: lastHash,
    lastHash,
    state: OUTCOME_STATE,
    events: JSON.stringify([{ type: 'OUTCOME', status, outcome, error, finishedAt }]),
  });
  assert(forked === undefined, 'an outcome stands where another record is');
}

function fork(
  tables: MemoryTables,
  row: TaskRecord,
  deed: Extract<Deed, { readonly what: 'fork' }>,
  deadlineMs: number | undefined,
): void {
  const { as, payload, records, lastSeq, lastHash, state } = deed;
  if (tables.tasks.has(as)) throw new StoreRefusedError(`there is a task ${as} already`);
  const { machine, version, queue, priority, retriesMax, keyMs, traceParent, serialKey } = row;
  const same = { machine, version, queue, priority, retriesMax, keyMs, traceParent, serialKey };
  // It takes turns with the one it is made from, as with all the others of the key.
  const waiting = serialKey === undefined ? {} : ({ status: 'waiting', waitFor: 'turn' } as const);
  const now = tables.now();
  const deadlineAt = deadlineMs === undefined ? undefined : now + deadlineMs;
  // An epoch of its own, before that of its first owner: its beginning was written by another task's.
  tables.insert({
    ...same,
    ...waiting,
    taskId: as,
    payload,
    deadlineAt,
    claimEpoch: 1,
    lastSeq,
    lastHash,
  });
  if (records === undefined || lastHash === undefined) return;
  const of = { task: as, generation: 1, epoch: 1, firstSeq: 0, lastSeq };
  put(tables, { ...of, prevHash: '', lastHash, state, events: records });
}

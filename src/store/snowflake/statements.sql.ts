/** The texts of every write. `tables` says how keys are kept: by the account, or by a table's lock. */
import {
  AUDIT_LOG,
  FLEET_FACT,
  POD_HEALTH,
  RUN_EVENTS,
  STEP_TRACKER,
  TABLES,
  type Table,
} from './columns.ts';
import {
  deleteSeen,
  FLATTENED,
  insertInto,
  insertMissing,
  selectWritten,
  updateSeen,
} from './sql.ts';

/** What else makes two tasks one: a key stands for one task of its machine. */
const SAME_KEY = ' or (step_tracker.machine = s.machine and step_tracker.task_key = s.task_key)';

/** ? pod: that it is up, or up or draining. */
const POD_UP = `exists (select 1 from pod_health p where p.pod_id = ? and p.status = 'up')`;
const POD_LIVE = `exists (
    select 1 from pod_health p where p.pod_id = ? and p.status in ('up', 'draining'))`;

interface Texts {
  /** Fails as a whole where one is there. */
  readonly insert: string;
  /** Leaves out those that are there. */
  readonly insertMissing: string;
  readonly update: string;
  readonly updateLight: string;
  readonly delete: string;
  readonly written: string;
}

function textsOf(table: Table): Texts {
  return {
    insert: insertInto(table),
    insertMissing: insertMissing(table, table === STEP_TRACKER ? SAME_KEY : ''),
    update: updateSeen(table),
    updateLight: updateSeen(table, { isLight: true }),
    delete: deleteSeen(table),
    written: selectWritten(table),
  };
}

export const TEXTS = new Map(TABLES.map((table) => [table, textsOf(table)]));

/** ? rows, ? pod: tasks, only while the pod is so. */
export const FENCES = {
  up: updateSeen(STEP_TRACKER, { isLight: true, fence: ` and ${POD_UP}` }),
  live: updateSeen(STEP_TRACKER, { isLight: true, fence: ` and ${POD_LIVE}` }),
} as const;

/**
 * ? segments. Puts in what is new and lengthens what it goes on from; whatever is otherwise is left
 * alone, and the number of rows tells that there was such.
 */
function putSegmentsWhere(fence: string): string {
  return `
  merge into run_events using (
    select f.value:task_id::varchar as task_id, f.value:generation::number(19,0) as generation,
           f.value:epoch::number(19,0) as epoch, f.value:first_seq::number(19,0) as first_seq,
           f.value:last_seq::number(19,0) as last_seq, f.value:prev_hash::varchar as prev_hash,
           f.value:last_hash::varchar as last_hash, f.value:state::varchar as state,
           f.value:events::varchar as events, f.value:rev::varchar as rev
      from ${FLATTENED}${fence}) s
    on run_events.task_id = s.task_id and run_events.generation = s.generation
      and run_events.epoch = s.epoch and run_events.first_seq = s.first_seq
  when matched and run_events.prev_hash = s.prev_hash and run_events.last_seq < s.last_seq
      and startswith(s.events, substr(run_events.events, 1, length(run_events.events) - 1))
    then update set last_seq = s.last_seq, last_hash = s.last_hash, state = s.state,
      events = s.events, rev = s.rev
  when not matched then insert
      (task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events, rev)
    values (s.task_id, s.generation, s.epoch, s.first_seq, s.last_seq, s.prev_hash, s.last_hash,
      s.state, s.events, s.rev)`;
}

export const putSegments = putSegmentsWhere('');

/** ? segments, ? pod: only while the pod is so. */
export const PUT_FENCES = {
  up: putSegmentsWhere(` where ${POD_UP}`),
  live: putSegmentsWhere(` where ${POD_LIVE}`),
} as const;

/** In which order the tables are written: history first, and tasks after whatever tells of them. */
export const WRITE_ORDER: readonly Table[] = [
  RUN_EVENTS,
  FLEET_FACT,
  AUDIT_LOG,
  POD_HEALTH,
  STEP_TRACKER,
];

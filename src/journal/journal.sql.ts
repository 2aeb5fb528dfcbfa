/** Every statement of the journal. Values are always bound. */

/** $lsn run seq at epoch event state data hash. */
export const insertEvent = `
  insert into events (lsn, run, seq, at, epoch, event, state, data, hash)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** id, machine, version, key, started_at. */
export const insertRun = `
  insert into runs (id, machine, version, key, started_at) values (?, ?, ?, ?, ?)`;

/** finished_at, outcome, ending, last_seq, last_hash, seal, id. Only once: an ended run stays ended. */
export const finishRun = `
  update runs set finished_at = ?, outcome = ?, ending = ?, last_seq = ?, last_hash = ?, seal = ?
   where id = ? and finished_at is null`;

/** lsn. One row a commit: tells how far the journal had come. */
export const advanceHead = `update journal set lsn = ? where one = 1`;

/** run, due_at. */
export const armTimer = `
  insert into timers (run, due_at) values (?, ?) on conflict (run) do update set due_at = excluded.due_at`;
/** run. */
export const disarmTimer = `delete from timers where run = ?`;
/** due_at, count. */
export const selectDueTimers = `
  select run from timers where due_at <= ? order by due_at, run limit ?`;
export const selectNextTimer = `select min(due_at) as due_at from timers`;

/** run, at, machine, version, outcome, state, attempt, reason. */
export const insertDeadLetter = `
  insert or replace into dead_letters (run, at, machine, version, outcome, state, attempt, reason)
  values (?, ?, ?, ?, ?, ?, ?, ?)`;
/** count. */
export const selectDeadLetters = `
  select run, at, machine, version, outcome, state, attempt, reason
    from dead_letters order by run desc limit ?`;

const RUN_COLUMNS = `id, machine, version, key, started_at, finished_at, outcome, ending,
  last_seq, last_hash, seal`;
/** id. */
export const selectRun = `select ${RUN_COLUMNS} from runs where id = ?`;
/** machine, key. Newest first: an expired key may have been used again. */
export const selectRunByKey = `
  select ${RUN_COLUMNS} from runs where machine = ? and key = ? order by id desc limit 1`;
/** before id, machine or null, count. */
export const selectRuns = `
  select ${RUN_COLUMNS} from runs
   where id < ? and (?2 is null or machine = ?2) order by id desc limit ?3`;
/** before id, machine or null, count. */
export const selectUnfinishedRuns = `
  select ${RUN_COLUMNS} from runs
   where finished_at is null and id < ? and (?2 is null or machine = ?2) order by id desc limit ?3`;
/** before id, machine or null, count, outcome or null. */
export const selectFinishedRuns = `
  select ${RUN_COLUMNS} from runs
   where finished_at is not null and id < ? and (?2 is null or machine = ?2)
     and (?4 is null or outcome = ?4) order by id desc limit ?3`;

/** after id, asleep until, count. A page of runs to resume. */
export const selectResumable = `
  select ${RUN_COLUMNS} from runs
   where finished_at is null and id > ?
     and not exists (select 1 from timers where timers.run = runs.id and timers.due_at > ?)
   order by id limit ?`;

const EVENT_COLUMNS = `lsn, run, seq, at, epoch, event, state, data, hash`;
/** run. */
export const selectEvents = `select ${EVENT_COLUMNS} from events where run = ? order by seq`;
/** run. */
export const selectHasEvents = `select 1 from events where run = ? limit 1`;
/** first run, last run. */
export const selectEventsBetween = `
  select ${EVENT_COLUMNS} from events where run between ? and ? order by run, seq`;

/** finished before, count. */
export const selectPrunable = `
  select id from runs where finished_at is not null and finished_at < ?
     and exists (select 1 from events where events.run = runs.id) order by finished_at limit ?`;
/** run. */
export const deleteEvents = `delete from events where run = ?`;
/** finished before, count. */
export const selectForgettable = `
  select id from runs where finished_at is not null and finished_at < ? order by finished_at limit ?`;
/** id. */
export const deleteRun = `delete from runs where id = ?`;
/** run. */
export const deleteDeadLetter = `delete from dead_letters where run = ?`;

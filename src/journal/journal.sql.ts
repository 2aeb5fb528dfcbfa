/** Every statement of the journal. Values are always bound. */

/** lsn, run, seq, at, epoch, event, state, data, hash; of one record after the other. */
export const insertEvents = (count: number): string => `
  insert into events (lsn, run, seq, at, epoch, event, state, data, hash)
  values ${Array(count).fill('(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`;
export const insertEvent = insertEvents(1);

/** id, machine, version, key, started_at, generation. */
export const insertRun = `
  insert into runs (id, machine, version, key, started_at, generation) values (?, ?, ?, ?, ?, ?)`;

/** finished_at, outcome, attempt, ending, last_seq, last_hash, seal, id. Only once, by the guard. */
export const finishRun = `
  update runs set finished_at = ?, outcome = ?, attempt = ?, ending = ?, last_seq = ?, last_hash = ?, seal = ?
   where id = ? and finished_at is null`;
/** version, id. The version that its records have brought it to. */
export const moveRun = `update runs set version = ? where id = ? and finished_at is null`;
/** A whole row, as it was salvaged. */
export const putRun = `
  insert into runs (id, machine, version, key, started_at, finished_at, outcome, attempt, ending,
    last_seq, last_hash, seal, generation)
  values (@id, @machine, @version, @key, @started_at, @finished_at, @outcome, @attempt, @ending,
    @last_seq, @last_hash, @seal, @generation)`;

export const selectHead = `select id, boot, lsn, created_at, seal from journal where one = 1`;
/** id, boot, lsn, created_at, seal. */
export const putHead = `
  insert or replace into journal (one, id, boot, lsn, created_at, seal) values (1, ?, ?, ?, ?, ?)`;
/** lsn, seal. One row a commit: tells how far the journal had come. */
export const advanceHead = `update journal set lsn = ?, seal = ? where one = 1`;
export const selectHasContent = `
  select exists (select 1 from runs) or exists (select 1 from events) as has_content`;

/** run, due_at. */
export const armTimer = `
  insert into timers (run, due_at) values (?, ?) on conflict (run) do update set due_at = excluded.due_at`;
/** run. */
export const disarmTimer = `delete from timers where run = ?`;
/** due_at, count. */
export const selectDueTimers = `
  select run from timers where due_at <= ? order by due_at, run limit ?`;
export const selectNextTimer = `select min(due_at) as due_at from timers`;

const RUN_COLUMNS = `id, machine, version, key, started_at, finished_at, outcome, attempt,
  ending, last_seq, last_hash, seal, generation`;
/** id. */
export const selectRun = `select ${RUN_COLUMNS} from runs where id = ?`;
/** machine, key. Newest first: an expired key may have been used again. */
export const selectRunByKey = `
  select ${RUN_COLUMNS} from runs where machine = ? and key = ? order by id desc limit 1`;
/** @before id, @machine or null, @countMax. */
export const selectRuns = `
  select ${RUN_COLUMNS} from runs
   where id < @before and (@machine is null or machine = @machine) order by id desc limit @countMax`;
/** @before id, @machine or null, @countMax. */
export const selectUnfinishedRuns = `
  select ${RUN_COLUMNS} from runs
   where finished_at is null and id < @before and (@machine is null or machine = @machine)
   order by id desc limit @countMax`;
/** @before id, @machine or null, @outcome or null, @countMax. */
export const selectFinishedRuns = `
  select ${RUN_COLUMNS} from runs
   where finished_at is not null and id < @before and (@machine is null or machine = @machine)
     and (@outcome is null or outcome = @outcome) order by id desc limit @countMax`;
/** count. Written out as in the index `runs_failed`, or SQLite would not use it. */
export const selectFailedRuns = `
  select ${RUN_COLUMNS} from runs
   where outcome in ('exhausted', 'aborted', 'timedOut') order by id desc limit ?`;

const RESUMABLE = `
    from runs where finished_at is null and generation is null and id > ?
     and not exists (select 1 from timers where timers.run = runs.id and timers.due_at > ?)
   order by id limit ?`;
/** after id, asleep until, count. A page of runs to resume: what is not asked for is null in them. */
export const selectResumable = `select id, machine, version, key, started_at, generation ${RESUMABLE}`;
/**
 * The same with all records of each run as one JSON text: to hand out that takes half the time of
 * handing out their columns one by one. Fails where a value is not what its column is for.
 */
export const selectResumableWhole = `
  select id, machine, version, key, started_at, generation,
         (select json_group_array(json_array(lsn, seq, at, epoch, event, state, data, hash))
            from events where run = runs.id) ${RESUMABLE}`;

/** JSON array of runs. Of each, in their order, the same; nulls for one that has ended or is not there. */
export const selectTogether = `
  select runs.id, machine, version, runs.key, started_at, generation,
         (select json_group_array(json_array(lsn, seq, at, epoch, event, state, data, hash))
            from events where run = runs.id)
    from json_each(?) as asked left join runs on runs.id = asked.value and finished_at is null
   order by asked.key`;

const EVENT_COLUMNS = `lsn, run, seq, at, epoch, event, state, data, hash`;
/** run. */
export const selectEvents = `select ${EVENT_COLUMNS} from events where run = ? order by seq`;
/** run. */
export const selectFirstEvent = `select ${EVENT_COLUMNS} from events where run = ? and seq = 0`;
/** run, from which seq on. */
export const selectEventsFrom = `
  select ${EVENT_COLUMNS} from events where run = ? and seq >= ? order by seq`;
/** run. */
export const selectLastSeq = `select max(seq) as seq from events where run = ?`;
/** count. */
export const selectRecent = `select run, at from events order by lsn desc limit ?`;
/** run. */
export const selectHasEvents = `select 1 from events where run = ? limit 1`;
/**
 * JSON array of runs. Answers one of their last seqs, in the same order: a value each would take
 * twice the time. Null for a run that has ended, is not there, or has no records.
 */
export const selectLastSeqs = `
  select json_group_array((
           select max(seq) from events where run = asked.value and exists (
             select 1 from runs where id = asked.value and finished_at is null)) order by asked.key)
    from json_each(?) as asked`;

/** finished before, after time, after id, count. By the index alone, from where the last page ended. */
export const selectEndedAfter = `
  select id, finished_at as at,
         exists (select 1 from events where events.run = runs.id) as has_events
    from runs where finished_at is not null and finished_at < ? and (finished_at, id) > (?, ?)
     and generation is null
   order by finished_at, id limit ?`;
/** Runs held for a store, with the epoch of their last record. */
export const selectHeld = `
  select id as run, generation, version,
         (select epoch from events where run = runs.id order by seq desc limit 1) as epoch
    from runs where generation is not null order by id`;
/** id. */
export const selectHasRun = `select 1 from runs where id = ?`;
/** JSON array of runs: only of held ones, whoever asks. What was started here is kept. */
export const deleteHeldEvents = `
  delete from events where run in (
    select runs.id from json_each(?) as asked cross join runs on runs.id = asked.value
     where runs.generation is not null)`;
/** JSON array of runs. */
export const deleteHeldRuns = `
  delete from runs where id in (select value from json_each(?)) and generation is not null`;
/** run. */
export const deleteEvents = `delete from events where run = ?`;
/** finished before, count. */
export const selectForgettable = `
  select id from runs where finished_at is not null and finished_at < ? order by finished_at limit ?`;
/** id. */
export const deleteRun = `delete from runs where id = ?`;

/** after id, count. */
export const selectRunsAfter = `
  select ${RUN_COLUMNS} from runs where id > ? order by id limit ?`;
/** after id, count. */
export const selectRunIdsAfter = `select id from runs where id > ? order by id limit ?`;
/** run. */
export const selectTimer = `select due_at from timers where run = ?`;
/** The epoch only of runs that were started here: those held for a store have that of their claim. */
export const selectHighest = `
  select (select max(lsn) from events) as lsn,
         (select max(epoch) from events
           where exists (select 1 from runs where id = events.run and generation is null)) as epoch`;
/** count. */
export const selectOrphanEvents = `
  select distinct run from events where not exists (select 1 from runs where id = events.run) limit ?`;
/** count. */
export const selectOrphanTimers = `
  select run from timers
   where not exists (select 1 from runs where id = timers.run and finished_at is null) limit ?`;
export const selectCounts = `
  select (select count(*) from runs where finished_at is null) as unfinished,
         (select count(*) from runs where finished_at is not null) as finished,
         (select count(*) from events) as records,
         (select count(*) from timers) as timers,
         (select count(*) from runs where outcome in ('exhausted', 'aborted', 'timedOut'))
           as dead_letters`;

/** Every table, index and trigger, with the page it begins on. */
export const selectLayout = `
  select type, name, tbl_name, rootpage, sql from sqlite_schema order by rowid`;
export const selectSchemaPages = `select pageno from dbstat where name = 'sqlite_schema'`;
/** first lsn, last lsn. Without the index, which may be broken too. */
export const salvageEventsFrom = `
  select * from events not indexed where lsn between ? and ? order by lsn`;
export const countEventsByIndex = `
  select count(*) from events indexed by events_of_run where run >= ''`;

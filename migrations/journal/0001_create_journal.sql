-- The journal of one process: what happened to each run, in order. Only the process that holds the
-- file reads or writes it. Events are append-only; the triggers keep even a person at a SQL prompt
-- from changing history, and from deleting what a live run still needs. The tables are strict, so
-- that a damaged value which has changed its type is found by SQLite's own check.

-- How far the journal has come. Every transaction raises `lsn`, so that a lost one is missed.
create table journal (
  one        integer primary key check (one = 1),
  id         text not null,
  boot       integer not null,
  lsn        integer not null,
  created_at integer not null,
  seal       text not null
) strict;

create table events (
  lsn   integer primary key,
  run   text not null,
  seq   integer not null,
  at    integer not null,
  epoch integer not null,
  event text not null,
  state text not null,
  data  text not null,
  hash  text not null
) strict;
create unique index events_of_run on events (run, seq);

create trigger events_are_final before update on events begin
  select raise(abort, 'events are append-only');
end;
create trigger events_of_live_runs_stay before delete on events
when not exists (select 1 from runs where id = old.run and finished_at is not null) begin
  select raise(abort, 'events of an unfinished run cannot be deleted');
end;

-- One row a run. `seal` covers what an ended run answers with, once its events may be gone; of a run
-- that has not ended, the first record says what the row must say. A dead letter is the row of a run
-- that failed.
create table runs (
  id          text primary key,
  machine     text not null,
  version     integer not null,
  key         text,
  started_at  integer not null,
  finished_at integer,
  outcome     text,
  attempt     integer,
  ending      text,
  last_seq    integer,
  last_hash   text,
  seal        text,
  check ((finished_at is null) = (outcome is null)),
  check ((finished_at is null) = (seal is null))
) strict, without rowid;
create trigger ended_runs_stay_ended before update on runs when old.finished_at is not null begin
  select raise(abort, 'a run that has ended stays as it ended');
end;
create index runs_unfinished on runs (id) where finished_at is null;
create index runs_by_key on runs (machine, key) where key is not null;
create index runs_finished on runs (finished_at) where finished_at is not null;
create index runs_failed on runs (id) where outcome in ('exhausted', 'aborted', 'timedOut');

create table timers (
  run    text primary key,
  due_at integer not null
) strict, without rowid;
create index timers_due on timers (due_at, run);

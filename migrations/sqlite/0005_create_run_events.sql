-- What happened in each run, in segments of consecutive records of one epoch. The epoch is part of the
-- key: what a former owner writes late lies beside the history of its successor, never in it.
create table run_events (
  task_id    text not null,
  generation integer not null,
  epoch      integer not null,
  first_seq  integer not null,
  last_seq   integer not null,
  prev_hash  text not null,
  last_hash  text not null,
  state      text not null,
  events     text not null,
  at         integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  primary key (task_id, generation, epoch, first_seq),
  constraint seqs_ascend check (last_seq >= first_seq)
) strict;

-- What a fleet has done, for those who ask about it; written by `fleetq sink`, and by nobody else.
-- Standard tables: they are read in bulk and have one writer. `source` is the name of the sink, so that
-- several fleets may share an archive; sink_epoch counts who wrote, so that one who comes late is seen.
create table if not exists archived_segment (
  source varchar(100) not null,
  task_id varchar(64) not null,
  generation number(19,0) not null,
  epoch number(19,0) not null,
  first_seq number(19,0) not null,
  last_seq number(19,0) not null,
  prev_hash varchar not null,
  last_hash varchar not null,
  state varchar not null,
  events varchar not null,
  begun_at number(19,0) not null,
  sink_epoch number(19,0) not null,
  primary key (source, task_id, generation, epoch, first_seq)
);

create table if not exists archived_task (
  source varchar(100) not null,
  task_id varchar(64) not null,
  generation number(19,0) not null,
  machine varchar not null,
  version number(19,0) not null,
  queue varchar not null,
  priority number(19,0) not null,
  run_at number(19,0) not null,
  status varchar(12) not null,
  wait_for varchar(16),
  claim_epoch number(19,0) not null,
  claimed_by varchar,
  retry_count number(19,0) not null,
  crashes number(19,0) not null,
  claims number(19,0) not null,
  paused boolean not null,
  task_key varchar,
  serial_key varchar,
  parent_id varchar,
  follows varchar,
  deadline_at number(19,0),
  payload varchar,
  outcome varchar,
  result varchar,
  error varchar,
  last_seq number(19,0) not null,
  last_hash varchar,
  trace_parent varchar,
  created_at number(19,0) not null,
  last_update number(19,0) not null,
  finished_at number(19,0),
  discarded_at number(19,0),
  sink_epoch number(19,0) not null,
  primary key (source, task_id)
);

-- How far each sink has come: written after what it speaks of.
create table if not exists archive_position (
  source varchar(100) not null,
  sink_epoch number(19,0) not null,
  holder varchar not null,
  position varchar not null,
  written_at number(19,0) not null,
  primary key (source)
);

-- Histories in segments. The epoch is part of the key, so that what a former owner writes late lies apart
-- from what came after it: this, and no lock, keeps a history in one line.
create table if not exists run_events (
  task_id varchar(64) not null,
  generation number(19,0) not null,
  epoch number(19,0) not null,
  first_seq number(19,0) not null,
  last_seq number(19,0) not null,
  prev_hash varchar(200) not null,
  last_hash varchar(200) not null,
  state varchar not null,
  events varchar not null,
  rev varchar(64) not null,
  primary key (task_id, generation, epoch, first_seq)
) data_retention_time_in_days = 1;

-- What people changed, once for each request id.
create table if not exists audit_log (
  request_id varchar(400) not null,
  noted_at number(19,0) not null,
  who varchar not null,
  what varchar not null,
  task_id varchar(200),
  detail varchar,
  rev varchar(64) not null,
  primary key (request_id)
) data_retention_time_in_days = 1;

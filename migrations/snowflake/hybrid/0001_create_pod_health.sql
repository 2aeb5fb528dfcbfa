-- Pods: what they say of themselves with every heartbeat. Times are milliseconds since the epoch, by the
-- clock of the account; rev names the statement that wrote the row last.
create hybrid table if not exists pod_health (
  pod_id varchar(200) not null,
  name varchar not null,
  journal_id varchar(200) not null,
  boot number(19,0) not null,
  birth_timestamp number(19,0) not null,
  silence_ms number(19,0),
  routes varchar not null,
  last_heartbeat number(19,0) not null,
  beat_seq number(19,0) not null,
  beat_nonce varchar not null,
  status varchar(12) not null,
  desired varchar(12),
  journal_lsn number(19,0) not null,
  report varchar not null,
  dead_at number(19,0),
  dead_by varchar(200),
  rev varchar(64) not null,
  primary key (pod_id)
);

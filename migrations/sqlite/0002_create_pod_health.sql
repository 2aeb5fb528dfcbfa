-- Who is there: one row for each life of a process, never used again. `dead` is the fence and comes
-- first; `down` means that nothing is left of it, and comes last.
create table pod_health (
  pod_id          text primary key,
  name            text not null,
  journal_id      text not null,
  boot            integer not null default 1,
  birth_timestamp integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  last_heartbeat  integer not null default (cast(round(unixepoch('subsec') * 1000) as integer)),
  beat_seq        integer not null default 0,
  beat_nonce      text not null default '',
  status          text not null default 'up' check (status in ('up', 'draining', 'dead', 'down')),
  desired         text check (desired in ('drain', 'pause')),
  routes          text not null default '[]' check (json_valid(routes)),
  journal_lsn     integer not null default 0,
  report          text not null default '{}' check (json_valid(report)),
  dead_at         integer,
  dead_by         text,
  constraint dead_iff_fenced check ((status in ('dead', 'down')) = (dead_at is not null))
) strict;

create index pod_health_fleet on pod_health (birth_timestamp, pod_id) where status <> 'down';
create index pod_health_of_journal on pod_health (journal_id);

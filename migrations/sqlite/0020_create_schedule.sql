-- When machines run again and again. Whoever finds a row due puts the tasks of its ticks in and moves it
-- on, in one transaction that stands only under the edition it has seen: so there need be no leader, and
-- no tick is put in twice. A removed one stays as a row, so that older code does not bring it back. Old
-- processes may keep running: they know nothing of it.
create table schedule (
  name       text primary key,
  status     text not null check (status in ('active', 'paused', 'removed')),
  machine    text not null,
  expression text not null,
  zone       text not null,
  payload    text not null,
  tick_as    text,
  missed     text not null check (missed in ('skip', 'one', 'all')),
  jitter_ms  integer not null check (jitter_ms >= 0),
  queue      text not null,
  priority   integer not null,
  revision   integer not null default 0,
  declared   text,
  source     text not null check (source in ('code', 'people')),
  edition    integer not null,
  next_at    integer,
  last_at    integer,
  last_run   text,
  ticks      integer not null default 0,
  trouble    text,
  created_at integer not null,
  updated_at integer not null,
  constraint schedule_due_only_active check (next_at is null or status = 'active')
) strict;

create index schedule_due on schedule (next_at) where next_at is not null;

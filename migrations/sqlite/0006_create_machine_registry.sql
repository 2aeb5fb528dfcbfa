-- Which routes any pod of this fleet has ever had: a task of none of them is a mistake in a name. The
-- shape is what the fingerprint is over, so that a pod with another one can say what has changed.
create table machine_registry (
  route       text primary key,
  machine     text not null,
  fingerprint text not null,
  shape       text not null,
  first_seen  integer not null default (cast(round(unixepoch('subsec') * 1000) as integer))
) strict;

create index machine_registry_machine on machine_registry (machine);

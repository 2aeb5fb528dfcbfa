-- What has been applied to this file, so that a program that is older or newer than it knows. All the
-- tables here have the names and columns of every other store, and are public. Times are milliseconds
-- since 1970 by the host's clock, flags are 0 and 1, lists and reports are JSON text.
create table schema_version (
  version    integer primary key,
  name       text not null,
  checksum   text not null,
  applied_at integer not null default (cast(round(unixepoch('subsec') * 1000) as integer))
) strict;

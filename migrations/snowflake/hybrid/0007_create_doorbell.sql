-- What pods that rest look at: whoever puts work in writes a row first. A standard table in any case: when
-- it was last changed is told without a warehouse. Older pods may keep running: they neither rest nor ring,
-- so let none of them enqueue while newer ones rest.
create table if not exists doorbell (
  rung_at number(19,0) not null
);

/** Statements on schedule. */

/** @name. */
export const selectSchedule = `select * from schedule where name = @name`;

const CHANGED = [
  ...['status', 'machine', 'expression', 'zone', 'payload', 'tick_as', 'missed', 'jitter_ms'],
  ...['queue', 'priority', 'revision', 'declared', 'source', 'edition', 'next_at', 'last_at'],
  ...['last_run', 'last_run_at', 'ticks', 'skipped', 'overlap', 'trouble', 'updated_at'],
];

/** @name, @created_at, and all that changes. */
export const putSchedule = `
  insert into schedule (name, created_at, ${CHANGED.join(', ')})
  values (@name, @created_at, ${CHANGED.map((column) => `@${column}`).join(', ')})
  on conflict (name) do update
     set ${CHANGED.map((column) => `${column} = excluded.${column}`).join(', ')}`;

/** @machines as a JSON array, @now, @count. */
export const selectDue = `
  select * from schedule
   where next_at <= @now and machine in (select value from json_each(@machines))
   order by next_at, name limit @count`;

/** @machines as a JSON array, @now. */
export const selectNext = `
  select min(next_at) as next_at from schedule
   where next_at > @now and machine in (select value from json_each(@machines))`;

/** @name, @edition as it was seen, and where it goes on. Changes nothing where somebody was first. */
export const moveSchedule = `
  update schedule
     set edition = edition + 1, last_at = @last_at, next_at = @next_at,
         last_run = coalesce(@last_run, last_run),
         last_run_at = case when @last_run is null then last_run_at else @last_at end,
         ticks = ticks + @ticks, skipped = skipped + @skipped, trouble = @trouble, updated_at = @now
   where name = @name and edition = @edition`;

/** @after, @count. */
export const selectSchedules = `
  select * from schedule where name > @after and status <> 'removed' order by name limit @count`;

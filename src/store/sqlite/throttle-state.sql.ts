/** Statements on throttle_state. Times are @now, read under the transaction's lock. */

/** A pin whose time is over is none. */
const isPinned = `(pinned is not null and (pinned_until is null or pinned_until > @now))`;

/** @now, @count. */
export const selectThrottles = `
  select api, epoch, @now - made_at as age_ms, state,
         case when ${isPinned} then pinned end as pinned,
         case when ${isPinned} then pinned_by end as pinned_by,
         case when ${isPinned} then pinned_until end as pinned_until
    from throttle_state order by made_at desc, api limit @count`;

/** @api, @epoch: written only where the row has it. @state, @now. */
export const publishThrottle = `
  insert into throttle_state (api, epoch, state, made_at)
  values (@api, @epoch + 1, @state, @now)
  on conflict (api) do update set epoch = excluded.epoch, state = excluded.state, made_at = @now
   where throttle_state.epoch = excluded.epoch - 1`;

/** @api, @now. */
export const selectOne = `
  select ${isPinned} as is_pinned, state is not null as is_known
    from throttle_state where api = @api`;

/** @api, @cap, @who, @until, @now. */
export const pinThrottle = `
  insert into throttle_state (api, pinned, pinned_by, pinned_until, made_at)
  values (@api, @cap, @who, @until, @now)
  on conflict (api) do update
     set pinned = excluded.pinned, pinned_by = excluded.pinned_by, pinned_until = excluded.pinned_until`;

/** @api. */
export const unpinThrottle = `
  update throttle_state set pinned = null, pinned_by = null, pinned_until = null
   where api = @api and pinned is not null`;

/** @api, @now. Whoever leads finds an epoch that is not its own, and begins anew. */
export const resetThrottle = `
  update throttle_state set epoch = epoch + 1, state = null, made_at = @now where api = @api`;

/** @before, @now. */
export const deleteThrottles = `
  delete from throttle_state where not ${isPinned} and made_at <= @before`;

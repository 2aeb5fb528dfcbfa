/** What pods that rest, or want to, ask for. */
import { NOW, sql } from './sql.ts';

export const insertRing = sql`insert into doorbell (rung_at) select ${NOW}`;

/** Answered by the services of the account: no warehouse is woken for it. */
export const selectMark = sql`select system$last_change_commit_time('doorbell') as changed`;

/** Whatever is in hand, and when the first of the rest is due. */
export const selectUnrest = sql`
  select count_if(t.status = 'claimed') as claimed,
         min(case when t.status = 'claimed' then null else t.run_at end) as due
    from step_tracker t
   where t.status in ('pending', 'waiting', 'claimed') and t.paused = false`;

export const selectRing = sql`select max(d.rung_at) as rung_at from doorbell d`;

/** ? ms: whether anybody has rung since then. */
export const selectRungLately = sql`
  select count(*) as count from doorbell d where d.rung_at > ${NOW} - ?`;

/** ? ms: rings that nobody waits for any more. */
export const deleteRings = sql`delete from doorbell where rung_at < ${NOW} - ?`;

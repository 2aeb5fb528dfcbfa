/**
 * The rules of the tables as queries: each finds the rows that break it. What a constraint or a unique
 * index keeps is looked for row by row only where that one is missing: the tables may be large.
 */

export interface Rule {
  readonly rule: string;
  /** The constraint, or unique index, that keeps it. */
  readonly keptBy?: string;
  /** Selects `example`: what breaks it. */
  readonly select: string;
}

/** The text of every table and index, with the names of the constraints in it. */
export const selectKeepers = `
  select group_concat(sql, ';') as sql from sqlite_schema
   where tbl_name in ('step_tracker', 'pod_health')`;

const ENDED = `status in ('completed', 'failed', 'cancelled')`;

/** Those before were looked at when they were the latest. */
const LATEST_COUNT = 10_000;

const tasks = (condition: string) =>
  `select task_id as example from step_tracker where ${condition}`;

/** The condition of `latest` and its order are those of an index. */
const withoutHistory = (latest: string) => `
  select task_id as example
    from (select task_id, generation, last_seq from step_tracker where ${latest}
           limit ${LATEST_COUNT}) as task
   where last_seq >= 0 and not exists (
     select 1 from run_events as part
      where part.task_id = task.task_id and part.generation = task.generation
        and part.first_seq <= task.last_seq and part.last_seq >= task.last_seq)`;

export const RULES: readonly Rule[] = [
  {
    rule: 'only claimed tasks have an owner',
    keptBy: 'constraint claimed_iff_held',
    select: tasks(`(status = 'claimed') <> (claimed_by is not null)`),
  },
  {
    rule: 'a claimed task has an epoch',
    keptBy: 'constraint claimed_has_epoch',
    select: tasks(`status = 'claimed' and claim_epoch < 1`),
  },
  {
    // By triggers, which keep no row out that came in while one of them was missing.
    rule: 'an open task is one that a pod can run',
    select: tasks(`status in ('pending', 'waiting', 'claimed')
      and (version < 1 or (substr(machine, 1, 9) = 'recovery/' and pinned_to is null))`),
  },
  {
    rule: 'ended tasks, and only they, have a finish time',
    keptBy: 'constraint ended_iff_finished',
    select: tasks(`(${ENDED}) <> (finished_at is not null)`),
  },
  {
    rule: 'waiting tasks, and only they, say what they wait for',
    keptBy: 'constraint waiting_iff_reasoned',
    select: tasks(`(status = 'waiting') <> (wait_for is not null)`),
  },
  {
    rule: 'a failed task has an error',
    keptBy: 'constraint failed_has_error',
    select: tasks(`status = 'failed' and error is null`),
  },
  {
    rule: 'a serial key has one holder',
    keptBy: 'create unique index step_tracker_serial ',
    select: `select queue || '/' || serial_key as example from step_tracker
      where serial_held = 1 group by queue, serial_key having count(*) > 1`,
  },
  {
    rule: 'a key stands for one task of its machine',
    keptBy: 'create unique index step_tracker_key ',
    select: `select machine || '/' || key as example from step_tracker
      where key is not null group by machine, key having count(*) > 1`,
  },
  {
    rule: 'dead pods, and only they, have a time of death',
    keptBy: 'constraint dead_iff_fenced',
    select: `select pod_id as example from pod_health
      where (status in ('dead', 'down')) <> (dead_at is not null)`,
  },
  {
    rule: 'the owner of a claim is up, draining, or dead and not yet swept',
    select: tasks(`claimed_by is not null and claimed_by not in (
      select pod_id from pod_health where status in ('up', 'draining', 'dead'))`),
  },
  {
    rule: 'an ended task has its history',
    select: withoutHistory('finished_at is not null order by finished_at desc'),
  },
  {
    rule: 'a waiting task has its history',
    select: withoutHistory(`status = 'waiting' and paused = 0 and pinned_to is null and crashes < 2
      and wait_for <> 'turn' order by route, run_at`),
  },
];

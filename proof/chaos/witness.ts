/**
 * A witness inside the database: every change of a task's row is written down by a trigger, in the
 * same transaction, with who owned it before and after, and by whose connection it came. Nothing of
 * FleetQ reads or knows it. With the
 * tables themselves it is read at the end, a page of tasks at a time.
 */
import pg from 'pg';
import type { RunId } from '../../src/ground/index.ts';
import type { Change, EndRow, PodLife, TaskFile, TimedSegment } from '../history/evidence.ts';
import { trueTimeSql } from './store-clock.ts';
import { ROOM_SQL } from './store-room.ts';

export type { Change, EndRow, TaskFile, TimedSegment } from '../history/evidence.ts';

const INSTALL = `
  create table chaos_change (
    number bigserial primary key, task_id text collate "C" not null,
    at timestamptz not null, was_status text, status text, was_epoch bigint, epoch bigint,
    was_owner text, owner text, was_generation int, generation int, was_hash text, hash text,
    was_outcome text, outcome text, was_retries int, retries int, was_crashes int, crashes int,
    was_control text, control text, was_paused boolean, paused boolean, writer text default current_setting('application_name'),
    snapshot pg_snapshot not null default pg_current_snapshot());
  create index chaos_change_of_task on chaos_change (task_id, number);
  create function chaos_see() returns trigger language plpgsql as $$
  begin
    insert into chaos_change
      (task_id, at, was_status, status, was_epoch, epoch, was_owner, owner, was_generation,
       generation, was_hash, hash, was_outcome, outcome, was_retries, retries, was_crashes, crashes,
       was_control, control, was_paused, paused)
    values (new.task_id, chaos_true(clock_timestamp()), old.status, new.status, old.claim_epoch,
       new.claim_epoch, old.claimed_by, new.claimed_by, old.generation, new.generation,
       old.last_hash, new.last_hash, old.outcome, new.outcome, old.retry_count, new.retry_count,
       old.crashes, new.crashes, old.control, new.control, old.paused, new.paused);
    return null;
  end $$;
  create trigger chaos_sees after update on step_tracker
    for each row execute function chaos_see();

  -- How long each segment was, and by which transaction. Whether whoever got the task had to see that,
  -- the snapshots of the changes tell, and no time can: between a row, its commit and the moment when
  -- others see it a busy server may take seconds.
  create table chaos_growth (
    task_id text collate "C" not null, generation int not null, epoch bigint not null,
    first_seq int not null, last_seq int not null,
    xid xid8 not null default pg_current_xact_id());
  create index chaos_growth_of_task on chaos_growth (task_id);
  create function chaos_see_growth() returns trigger language plpgsql as $$
  begin
    insert into chaos_growth
    values (new.task_id, new.generation, new.epoch, new.first_seq, new.last_seq);
    return null;
  end $$;
  create trigger chaos_sees_growth after insert or update on run_events
    for each row execute function chaos_see_growth();`;

/** As little before or after a change as a time can tell. */
const MOMENT = `interval '1 microsecond'`;
const PAGE = 1_000;
const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const SELECT_ROWS = `
  select task_id, generation, key, machine, status, outcome, result, error, claim_epoch, last_seq,
         last_hash, retry_count, crashes
    from step_tracker where task_id > $1 and machine = any ($3) order by task_id limit $2`;
const SELECT_SEGMENTS = `
  select task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events, grew
    from run_events
   cross join lateral (
     select json_agg(json_build_object('lastSeq', seen.last_seq, 'at', ${ms('since.at')})
              order by seen.last_seq, since.at) as grew
       from chaos_growth seen
      cross join lateral (
        select coalesce(
          min(at) filter (where pg_visible_in_snapshot(seen.xid, snapshot)) - ${MOMENT},
          greatest(chaos_true(pg_xact_commit_timestamp(seen.xmin)), max(at) + ${MOMENT})) as at
          from chaos_change where chaos_change.task_id = seen.task_id) since
      where (seen.task_id, seen.generation, seen.epoch, seen.first_seq)
          = (run_events.task_id, run_events.generation, run_events.epoch, run_events.first_seq)
   ) growth
   where task_id = any ($1)`;
const SELECT_CHANGES = `
  select *, ${ms('at')} as at_ms from chaos_change where task_id = any ($1) order by number`;

type Row = Record<string, unknown>;

export class Witness {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async install(): Promise<void> {
    await this.#with((client) => client.query(`${trueTimeSql(Date.now())}${INSTALL}${ROOM_SQL}`));
  }

  /** How many tasks of these machines have not ended, and how many there are. */
  async counts(machines: readonly string[]): Promise<{ unfinished: number; all: number }> {
    return this.#with(async (client) => {
      const { rows } = await client.query(
        `select count(*) filter (where finished_at is null)::int as unfinished,
                count(*)::int as all from step_tracker where machine = any ($1)`,
        [machines],
      );
      return rows[0] as { unfinished: number; all: number };
    });
  }

  /** The name of the pod that has the most tasks, if these are so many. */
  async busiestPod(least: number): Promise<string | undefined> {
    return this.#with(async (client) => {
      const { rows } = await client.query<Row>(
        `select pods.name from step_tracker tasks join pod_health pods on pods.pod_id = tasks.claimed_by
          where pods.status = 'up' group by pods.name having count(*) >= $1 order by count(*) desc`,
        [least],
      );
      return textOf(rows[0]?.['name']);
    });
  }

  async isHolding(name: string): Promise<boolean> {
    return this.#with(async (client) => {
      const { rowCount } = await client.query(
        `select 1 from step_tracker tasks join pod_health pods on pods.pod_id = tasks.claimed_by
          where pods.name = $1 limit 1`,
        [name],
      );
      return rowCount !== 0;
    });
  }

  /** Every process of a pod that there was. */
  async pods(): Promise<PodLife[]> {
    return this.#with(async (client) => {
      const { rows } = await client.query<Row>(
        `select pod_id, name, dead_by, ${ms('chaos_true(last_heartbeat)')} as beat_at,
                ${ms('chaos_true(dead_at)')} as dead_at
           from pod_health`,
      );
      return rows.map((row) => ({
        pod: row['pod_id'] as string,
        name: row['name'] as string,
        lastBeatAt: row['beat_at'] as number,
        deadAt: (row['dead_at'] ?? undefined) as number | undefined,
        deadBy: textOf(row['dead_by']),
      }));
    });
  }

  async read(machines: readonly string[], each: (file: TaskFile) => void): Promise<void> {
    await this.#with(async (client) => {
      for (let after = ''; ; ) {
        const page = (await client.query<Row>(SELECT_ROWS, [after, PAGE, machines])).rows;
        if (page.length === 0) return;
        const ids = page.map((row) => row['task_id'] as string);
        const segments = groupOf((await client.query<Row>(SELECT_SEGMENTS, [ids])).rows, segmentOf);
        const changes = groupOf((await client.query<Row>(SELECT_CHANGES, [ids])).rows, changeOf);
        for (const row of page) {
          const task = row['task_id'] as string;
          each({
            row: endRowOf(row),
            segments: segments.get(task) ?? [],
            changes: changes.get(task) ?? [],
          });
        }
        after = ids.at(-1)!;
      }
    });
  }

  async #with<T>(act: (client: pg.Client) => Promise<T>): Promise<T> {
    // The server may be crashed while we ask: the question fails, and that is all.
    const client = new pg.Client(this.#url).on('error', () => undefined);
    await client.connect();
    try {
      return await act(client);
    } finally {
      await client.end();
    }
  }
}

function groupOf<T>(rows: readonly Row[], read: (row: Row) => T): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const task = row['task_id'] as string;
    const group = groups.get(task);
    if (group) group.push(read(row));
    else groups.set(task, [read(row)]);
  }
  return groups;
}

const textOf = (value: unknown) => (value ?? undefined) as string | undefined;

function endRowOf(row: Row): EndRow {
  return {
    task: row['task_id'] as RunId,
    generation: row['generation'] as number,
    key: textOf(row['key']),
    machine: row['machine'] as string,
    status: row['status'] as string,
    outcome: textOf(row['outcome']),
    result: textOf(row['result']),
    error: textOf(row['error']),
    epoch: Number(row['claim_epoch']),
    lastSeq: row['last_seq'] as number,
    lastHash: textOf(row['last_hash']),
    retries: row['retry_count'] as number,
    crashes: row['crashes'] as number,
  };
}

function segmentOf(row: Row): TimedSegment {
  const grew = row['grew'] as { readonly lastSeq: number; readonly at: number }[];
  return {
    task: row['task_id'] as RunId,
    generation: row['generation'] as number,
    epoch: Number(row['epoch']),
    firstSeq: row['first_seq'] as number,
    lastSeq: row['last_seq'] as number,
    prevHash: row['prev_hash'] as string,
    lastHash: row['last_hash'] as string,
    state: row['state'] as string,
    events: row['events'] as string,
    at: grew.find(({ lastSeq }) => lastSeq === row['last_seq'])!.at,
    grew,
  };
}

function changeOf(row: Row): Change {
  return {
    at: row['at_ms'] as number,
    wasStatus: textOf(row['was_status']),
    status: row['status'] as string,
    wasEpoch: Number(row['was_epoch']),
    epoch: Number(row['epoch']),
    wasOwner: textOf(row['was_owner']),
    owner: textOf(row['owner']),
    wasGeneration: row['was_generation'] as number,
    generation: row['generation'] as number,
    wasHash: textOf(row['was_hash']),
    hash: textOf(row['hash']),
    wasOutcome: textOf(row['was_outcome']),
    outcome: textOf(row['outcome']),
    wasRetries: row['was_retries'] as number,
    retries: row['retries'] as number,
    wasCrashes: row['was_crashes'] as number,
    crashes: row['crashes'] as number,
    wasControl: textOf(row['was_control']),
    control: textOf(row['control']),
    wasPaused: row['was_paused'] === true,
    isPaused: row['paused'] === true,
    by: textOf(row['writer']),
  };
}

/**
 * A witness inside the database: every change of a task's row is written down by a trigger, in the
 * same transaction, with who owned it before and after. Nothing of FleetQ reads or knows it. With the
 * tables themselves it is read at the end, a page of tasks at a time.
 */
import pg from 'pg';
import type { RunId } from '../../src/ground/index.ts';
import type { Segment } from '../../src/store/index.ts';

/** A change of one row, in the order in which they were made. */
export interface Change {
  readonly at: number;
  readonly wasStatus: string | undefined;
  readonly status: string;
  readonly wasEpoch: number;
  readonly epoch: number;
  readonly wasOwner: string | undefined;
  readonly owner: string | undefined;
  readonly wasGeneration: number;
  readonly generation: number;
  readonly wasHash: string | undefined;
  readonly hash: string | undefined;
  readonly wasOutcome: string | undefined;
  readonly outcome: string | undefined;
}

export interface EndRow {
  readonly task: RunId;
  readonly key: string | undefined;
  readonly machine: string;
  readonly status: string;
  readonly outcome: string | undefined;
  readonly result: string | undefined;
  readonly error: string | undefined;
  readonly epoch: number;
  readonly lastSeq: number;
  readonly lastHash: string | undefined;
}

export type TimedSegment = Segment & { readonly at: number };

/** All that the store knows of one task. */
export interface TaskFile {
  readonly row: EndRow;
  readonly segments: readonly TimedSegment[];
  readonly changes: readonly Change[];
}

const INSTALL = `
  create table chaos_change (
    number bigserial primary key, task_id text collate "C" not null,
    at timestamptz not null, was_status text, status text, was_epoch bigint, epoch bigint,
    was_owner text, owner text, was_generation int, generation int, was_hash text, hash text,
    was_outcome text, outcome text);
  create index chaos_change_of_task on chaos_change (task_id, number);
  create function chaos_see() returns trigger language plpgsql as $$
  begin
    insert into chaos_change
      (task_id, at, was_status, status, was_epoch, epoch, was_owner, owner, was_generation,
       generation, was_hash, hash, was_outcome, outcome)
    values (new.task_id, clock_timestamp(), old.status, new.status, old.claim_epoch,
       new.claim_epoch, old.claimed_by, new.claimed_by, old.generation, new.generation,
       old.last_hash, new.last_hash, old.outcome, new.outcome);
    return null;
  end $$;
  create trigger chaos_sees after update on step_tracker
    for each row execute function chaos_see();`;

const PAGE = 1_000;
const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;

const SELECT_ROWS = `
  select task_id, key, machine, status, outcome, result, error, claim_epoch, last_seq, last_hash
    from step_tracker where task_id > $1 and machine = any ($3) order by task_id limit $2`;
const SELECT_SEGMENTS = `
  select task_id, generation, epoch, first_seq, last_seq, prev_hash, last_hash, state, events,
         ${ms('at')} as at
    from run_events where task_id = any ($1)`;
const SELECT_CHANGES = `
  select *, ${ms('at')} as at_ms from chaos_change where task_id = any ($1) order by number`;

type Row = Record<string, unknown>;

export class Witness {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async install(): Promise<void> {
    await this.#with((client) => client.query(INSTALL));
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

  /** When each pod was declared dead. */
  async deaths(): Promise<Map<string, number>> {
    return this.#with(async (client) => {
      const { rows } = await client.query<{ pod_id: string; at: number }>(
        `select pod_id, ${ms('dead_at')} as at from pod_health where dead_at is not null`,
      );
      return new Map(rows.map(({ pod_id, at }) => [pod_id, at]));
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
    key: textOf(row['key']),
    machine: row['machine'] as string,
    status: row['status'] as string,
    outcome: textOf(row['outcome']),
    result: textOf(row['result']),
    error: textOf(row['error']),
    epoch: Number(row['claim_epoch']),
    lastSeq: row['last_seq'] as number,
    lastHash: textOf(row['last_hash']),
  };
}

function segmentOf(row: Row): TimedSegment {
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
    at: row['at'] as number,
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
  };
}

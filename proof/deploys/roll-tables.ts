/** What is asked of the shared tables behind the back of the fleet: rows and histories, page by page. */
import pg from 'pg';
import type { RunId } from '../../src/ground/index.ts';
import type { Segment } from '../../src/store/index.ts';
import { MACHINE_NAMES, nameOf, type Route } from './roll-rules.ts';

export interface EndedTask {
  readonly id: RunId;
  readonly machine: string;
  readonly version: number;
  readonly status: string;
  readonly outcome: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly retries: number;
  readonly crashes: number;
  readonly lastHash: string | null;
  readonly segments: readonly Segment[];
}

const PAGE = 500;
const COUNT_UNFINISHED = `
  select count(*)::int as count from step_tracker
   where finished_at is null and machine = any ($1)`;
const SELECT_OF_ROUTES = `
  select task_id from step_tracker
   where finished_at is null and machine || '@' || version = any ($1)`;
const SELECT_TASKS = `
  select task_id as id, machine, version, status, outcome, result, error, crashes,
         retry_count as retries, last_hash as "lastHash"
    from step_tracker where task_id > $1 and machine = any ($3) order by task_id limit $2`;
const SELECT_SEGMENTS = `
  select task_id as task, generation, epoch::float8, first_seq as "firstSeq", last_seq as "lastSeq",
         prev_hash as "prevHash", last_hash as "lastHash", state, events
    from run_events where task_id = any ($1)`;

export class RollTables {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(url: string): Promise<RollTables> {
    const client = new pg.Client(url).on('error', () => undefined);
    await client.connect();
    return new RollTables(client);
  }

  async unfinished(): Promise<number> {
    const { rows } = await this.#client.query(COUNT_UNFINISHED, [MACHINE_NAMES]);
    return (rows[0] as { count: number }).count;
  }

  /** Tasks under these routes that have not ended. */
  async underWay(routes: readonly Route[]): Promise<RunId[]> {
    const { rows } = await this.#client.query(SELECT_OF_ROUTES, [routes.map(nameOf)]);
    return rows.map((row: { task_id: RunId }) => row.task_id);
  }

  async read(each: (task: EndedTask) => void): Promise<void> {
    for (let after = ''; ; ) {
      const { rows } = await this.#client.query(SELECT_TASKS, [after, PAGE, MACHINE_NAMES]);
      const page = rows as Omit<EndedTask, 'segments'>[];
      if (page.length === 0) return;
      const ids = page.map(({ id }) => id);
      const found = (await this.#client.query(SELECT_SEGMENTS, [ids])).rows as Segment[];
      const segments = new Map<string, Segment[]>(ids.map((id) => [id, []]));
      for (const segment of found) segments.get(segment.task)?.push(segment);
      for (const task of page) each({ ...task, segments: segments.get(task.id) ?? [] });
      after = ids.at(-1)!;
    }
  }

  async close(): Promise<void> {
    await this.#client.end();
  }
}

/**
 * Looks at all tasks together while the faults go on: how many there are, in which states, and whether
 * the store and any pod are there at all. One statement a look, so that each is one instant.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Snapshot, SnapshotCounts } from '../history/evidence.ts';

const EVERY_MS = 500;
/** A large table is looked at less often: the judge must not become the load. */
const SHARE_MAX = 20;
const WAIT_MS_MAX = 5_000;

/** $1 machines. A row is torn where its status and what comes with it do not fit together. */
const LOOK = `
  select (extract(epoch from chaos_true(clock_timestamp())) * 1000)::float8 as at, count(*)::int as all,
         count(*) filter (where status = 'pending')::int as pending,
         count(*) filter (where status = 'waiting')::int as waiting,
         count(*) filter (where status = 'claimed')::int as claimed,
         count(*) filter (where status = 'completed')::int as completed,
         count(*) filter (where status = 'failed')::int as failed,
         count(*) filter (where status = 'cancelled')::int as cancelled,
         count(*) filter (where (status = 'claimed') <> (claimed_by is not null)
           or (status in ('completed', 'failed', 'cancelled')) <> (finished_at is not null)
           or (status = 'waiting') <> (wait_for is not null))::int as torn,
         (select count(*)::int from pod_health where status = 'up'
             and last_heartbeat > clock_timestamp() - interval '2 seconds') as fresh
    from step_tracker where machine = any ($1)`;

export interface SnapshotPorts {
  readonly url: string;
  readonly machines: readonly string[];
  /** How many tasks were acknowledged so far, and how many were sent. */
  readonly progress: () => { readonly acknowledged: number; readonly sent: number };
}

export class Snapshots {
  readonly #ports: SnapshotPorts;
  readonly taken: Snapshot[] = [];
  #client: pg.Client | undefined;
  #isOver = false;
  #going: Promise<void> | undefined;

  constructor(ports: SnapshotPorts) {
    this.#ports = ports;
  }

  start(): void {
    this.#going ??= this.#go();
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#going;
    await this.#client?.end().catch(() => undefined);
  }

  async #go(): Promise<void> {
    while (!this.#isOver) {
      const begunMs = performance.now();
      this.taken.push(await this.#look());
      const lookMs = performance.now() - begunMs;
      await sleep(Math.min(WAIT_MS_MAX, Math.max(EVERY_MS, lookMs * SHARE_MAX)));
    }
  }

  async #look(): Promise<Snapshot> {
    const { machines, progress } = this.#ports;
    const { acknowledged } = progress();
    try {
      this.#client ??= await this.#connect();
      const { rows } = await this.#client.query(LOOK, [machines]);
      const { at, all, torn, fresh, ...byStatus } = rows[0] as Record<string, number>;
      const counts = { all, torn, fresh, byStatus } as SnapshotCounts;
      return { at: at!, acknowledged, sent: progress().sent, counts };
    } catch {
      // The server is down, which is one of the things to be seen.
      this.#client?.end().catch(() => undefined);
      this.#client = undefined;
      return { at: Date.now(), acknowledged, sent: progress().sent };
    }
  }

  async #connect(): Promise<pg.Client> {
    const { url } = this.#ports;
    const client = new pg.Client({ connectionString: url, query_timeout: WAIT_MS_MAX });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }
}

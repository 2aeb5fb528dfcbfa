/** What every case stands on: a database of its own, a directory of its own, and pods that end with it. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { runOn, type TestPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { msUntil, Pod, type PodOptions, type PodPlace } from './pods.ts';

export const HEARTBEAT_MS = 1_000;
export const SILENCE_MS = 4_000;
/** A pod judges others only after two silences of its own answered heartbeats; and a heartbeat to see them. */
export const STEADY_MS = 2 * SILENCE_MS + HEARTBEAT_MS;
/**
 * A dead pod's tasks are back after the silence, a heartbeat and the sweep (docs/explanation/fleet.md). Two more
 * heartbeats: the leader counts from when it saw the last beat itself, and learns of the silence by a beat. Two
 * seconds are for the sweep, a run of its own with its records and statements, on two cores that are busy.
 */
export const RELEASED_MS_MAX = SILENCE_MS + 3 * HEARTBEAT_MS + 2_000;
/** Where the leader has not acted for a turn, a silence and a heartbeat, the pod behind it does. */
export const TURN_MS = SILENCE_MS + HEARTBEAT_MS;

type StagePod = Omit<PodOptions, 'dataDir'> & PodPlace & { readonly dataDir?: string };

export class Stage {
  readonly directory = mkdtempSync(join(tmpdir(), 'fleetq-pod-faults-'));
  readonly ledger = join(this.directory, 'ledger');
  readonly url: string;
  readonly #pods: Pod[] = [];
  readonly #ends: (() => Promise<void> | void)[] = [];

  private constructor(url: string) {
    this.url = url;
  }

  static async open(postgres: TestPostgres): Promise<Stage> {
    const url = await postgres.createDatabase();
    const ports = { clock: systemClock, random: systemRandom };
    await (await openStore(url, { ...ports, migrates: true })).close();
    return new Stage(url);
  }

  /** A pod of this fleet. */
  pod({ dataDir, ...options }: StagePod): Promise<Pod> {
    const times = { heartbeat: `${HEARTBEAT_MS}ms`, silence: `${SILENCE_MS}ms` };
    const home = dataDir ?? join(this.directory, options.podName);
    return this.#started({ ...times, store: this.url, ...options, dataDir: home });
  }

  /** The process alone with its journal. */
  loner({ dataDir, ...options }: StagePod): Promise<Pod> {
    return this.#started({ ...options, dataDir: dataDir ?? join(this.directory, options.podName) });
  }

  async #started({ inside, ledger = this.ledger, ...options }: PodOptions & PodPlace) {
    const pod = await Pod.start(options, { inside, ledger });
    this.#pods.push(pod);
    return pod;
  }

  sql<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return runOn<Row>(this.url, text, values);
  }

  async count(text: string, values: readonly unknown[] = []): Promise<number> {
    const [row] = await this.sql<{ n: string }>(`select count(*) as n from ${text}`, values);
    return Number(row?.n);
  }

  claimsOf = (pod: string): Promise<number> =>
    this.count(`step_tracker where status = 'claimed' and claimed_by = $1`, [pod]);

  /** How many of these tasks stand like this. */
  countOf = (tasks: readonly string[], status: string): Promise<number> =>
    this.count('step_tracker where task_id = any ($1) and status = $2', [tasks, status]);

  msUntilDone = (tasks: readonly string[], msMax: number): Promise<number | undefined> =>
    msUntil(msMax, async () => (await this.countOf(tasks, 'completed')) === tasks.length);

  msUntilReleased = (pod: string, msMax: number): Promise<number | undefined> =>
    msUntil(msMax, async () => (await this.claimsOf(pod)) === 0);

  /** How often each run was started, or done, by what the handlers noted. */
  noted(what: 'started' | 'worked'): Map<string, number> {
    const counts = new Map<string, number>();
    for (const line of this.#lines()) {
      if (line.what === what) counts.set(line.run, (counts.get(line.run) ?? 0) + 1);
    }
    return counts;
  }

  /** How often these processes have noted it. */
  notedBy(pids: readonly number[], noted: 'started' | 'worked'): number {
    return this.#lines().filter(({ what, pid }) => what === noted && pids.includes(pid)).length;
  }

  #lines(): { readonly what: string; readonly run: string; readonly pid: number }[] {
    const text = readFileSync(this.ledger, { encoding: 'utf8', flag: 'a+' });
    return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
  }

  /** To be undone at the end, after the pods have ended; the latest first. */
  atEnd(end: () => Promise<void> | void): void {
    this.#ends.unshift(end);
  }

  async close(): Promise<void> {
    await Promise.all(this.#pods.map((pod) => pod.kill()));
    for (const end of this.#ends) await end();
    removeTree(this.directory);
  }
}

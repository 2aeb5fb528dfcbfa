/**
 * Dead letters on a real Postgres, redriven by one bulk operation, while the pod that is at it is killed
 * again and again, and the operation is paused and resumed once. Then every letter is looked at: it has
 * been redriven once, it has one row in the audit log, and the operation has counted it once.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bulkOf, bulkOrderOf } from '../../src/fleet/index.ts';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { type BulkRow, openStore, type Store } from '../../src/store/index.ts';
import { runOn, startPostgres, type TestPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';

const MACHINE = 'test/letter';
const TIMES = { FLEETQ_HEARTBEAT: '300ms', FLEETQ_SILENCE: '2s', FLEETQ_ARCHIVE: '200ms' };
const LOOK_MS = 50;
const mint = runIdMint(systemClock, systemRandom);

export interface BulkKills {
  /** dist/bin.js of the package. */
  readonly bin: string;
  readonly letters: number;
  readonly kills: number;
  readonly pods: number;
  readonly rate: number;
  readonly secondsMax: number;
}

export interface BulkKillsReport {
  readonly letters: number;
  readonly kills: number;
  readonly pauses: number;
  readonly shifts: number;
  /** Letters that are at their second generation, and those that are at any other. */
  readonly redriven: number;
  readonly others: number;
  /** Rows of the audit log by the operation; and letters that have none, or more than one. */
  readonly audited: number;
  readonly auditedOddly: number;
  readonly counted: Pick<BulkRow, 'found' | 'done' | 'requested' | 'already' | 'refused'>;
  readonly status: string;
  readonly seconds: number;
  readonly perSecond: number;
  readonly isGood: boolean;
}

export async function runBulkKills(options: BulkKills): Promise<BulkKillsReport> {
  const server = await startPostgres();
  const place = mkdtempSync(join(tmpdir(), 'fleetq-bulk-'));
  const fleet = new Pods(options.bin, place);
  try {
    return await play(server, fleet, options);
  } finally {
    await fleet.endAll();
    await server.remove();
    removeTree(place);
  }
}

async function play(
  server: TestPostgres,
  fleet: Pods,
  { letters, kills, pods, rate, secondsMax }: BulkKills,
): Promise<BulkKillsReport> {
  const url = await server.createDatabase();
  const ports = { clock: systemClock, random: systemRandom };
  const store = await openStore(url, { ...ports, migrates: true });
  try {
    await makeLetters(url, store, letters);
    await Promise.all(Array.from({ length: pods }, () => fleet.start(url)));
    const words = { requestId: mint(), who: 'the test', via: 'test', isMasked: false };
    const deed = { what: 'redrive', isFresh: false } as const;
    const bulk = bulkOf({ ...words, deed, filter: 'is:dead-letter', rate }, mint);
    await store.beginBulk(bulk);
    const begunMs = systemClock.monotonicMs();
    const untilMs = begunMs + secondsMax * 1_000;
    const scene = { url, store, fleet, id: bulk.id, untilMs };
    const successors: Promise<void>[] = [];
    for (let kill = 1; kill <= kills; kill += 1) {
      await reached(scene, (letters * kill) / (kills + 2));
      await killWorker(scene);
      // Not waited for: on a slow host the others would be through with it before this one is up.
      successors.push(fleet.start(url));
    }
    await Promise.all(successors);
    await reached(scene, (letters * (kills + 1)) / (kills + 2));
    const pauses = await pauseOnce(scene);
    const row = await until(scene, ({ endedAt }) => endedAt !== undefined);
    const seconds = (systemClock.monotonicMs() - begunMs) / 1_000;
    return {
      ...(await judge(url, row, letters)),
      ...{ kills, pauses },
      ...paced(letters, seconds),
    };
  } finally {
    await store.close();
  }
}

/** Of a machine that the fleet has had and no pod has now: what is redriven waits, and does nothing else. */
async function makeLetters(url: string, store: Store, count: number): Promise<void> {
  await store.announce([{ route: `${MACHINE}@1`, fingerprint: 'f', shape: 's' }]);
  await runOn(
    url,
    `insert into step_tracker
       (task_id, machine, payload, status, outcome, error, finished_at, created_at)
     select gen_random_uuid()::text, $1, '{}', 'failed', 'aborted',
            '{"name":"Error","message":"no such bucket"}', now(), now() - number * interval '1 ms'
       from generate_series(1, $2::int) as number`,
    [MACHINE, count],
  );
  await runOn(url, 'analyze step_tracker');
}

interface Scene {
  readonly url: string;
  readonly store: Store;
  readonly fleet: Pods;
  readonly id: string;
  readonly untilMs: number;
}

async function until(scene: Scene, isSo: (row: BulkRow) => boolean): Promise<BulkRow> {
  const reader = await scene.store.openReader({ connectionsMax: 1 });
  try {
    for (;;) {
      const [row] = await reader.bulks({ ids: [scene.id], countMax: 1 });
      if (row && isSo(row)) return row;
      if (systemClock.monotonicMs() > scene.untilMs) {
        throw new Error(`it has not come so far in time: ${JSON.stringify(row)}`);
      }
      await sleep(LOOK_MS);
    }
  } finally {
    await reader.close();
  }
}

function reached(scene: Scene, count: number): Promise<BulkRow> {
  return until(scene, ({ done, endedAt }) => done >= count || endedAt !== undefined);
}

/** The pod that is at it, while it is at it. */
async function killWorker(scene: Scene): Promise<void> {
  for (;;) {
    const [owner] = await runOn<{ name: string }>(
      scene.url,
      `select pod.name from step_tracker task join pod_health pod on pod.pod_id = task.claimed_by
        where task.machine = 'fleet/bulk' and pod.status = 'up'`,
    );
    if (owner && (await scene.fleet.kill(owner.name))) break;
    if (systemClock.monotonicMs() > scene.untilMs) throw new Error('nobody came to be at it');
    await sleep(LOOK_MS);
  }
}

async function pauseOnce(scene: Scene): Promise<number> {
  const order = (what: 'pause' | 'resume') => {
    const by = { requestId: mint(), who: 'the test', via: 'test' };
    return scene.store.orderBulk(bulkOrderOf(scene.id, { what }, by, mint));
  };
  const paused = await order('pause');
  if (paused.kind === 'refused') return 0;
  const row = await until(scene, ({ status }) => status === 'paused' || status === 'completed');
  if (row.status === 'completed') return 0;
  await order('resume');
  return 1;
}

async function judge(url: string, row: BulkRow, letters: number) {
  const [tasks] = await runOn<{ redriven: string; others: string }>(
    url,
    `select count(*) filter (where generation = 2 and status <> 'failed') as redriven,
            count(*) filter (where generation <> 2 or status = 'failed') as others
       from step_tracker where machine = '${MACHINE}'`,
  );
  const [log] = await runOn<{ audited: string; oddly: string }>(
    url,
    `select coalesce(sum(rows), 0) as audited, count(*) filter (where rows <> 1) as oddly
       from (select task.task_id, count(log.id) as rows
               from step_tracker task
               left join audit_log log on log.task_id = task.task_id and log.what = 'redrive'
                 and log.detail::json ->> 'via' = $1
              where task.machine = '${MACHINE}' group by task.task_id) each`,
    [`bulk:${row.id}`],
  );
  const { found, done, requested, already, refused, status, shift: shifts } = row;
  const counted = { found, done, requested, already, refused };
  const [redriven, others] = [Number(tasks!.redriven), Number(tasks!.others)];
  const [audited, auditedOddly] = [Number(log!.audited), Number(log!.oddly)];
  const isGood =
    status === 'completed' &&
    [redriven, audited, found, done].every((count) => count === letters) &&
    others + auditedOddly + requested + already + refused === 0;
  return { letters, redriven, others, audited, auditedOddly, counted, status, shifts, isGood };
}

function paced(letters: number, seconds: number) {
  return { seconds: Math.round(seconds * 10) / 10, perSecond: Math.round(letters / seconds) };
}

/** Real processes of `fleetq worker`. */
class Pods {
  readonly #bin: string;
  readonly #place: string;
  readonly #children = new Map<string, ChildProcess>();
  #count = 0;

  constructor(bin: string, place: string) {
    this.#bin = bin;
    this.#place = place;
    writeFileSync(join(place, 'machines.mjs'), 'export const machines = [];\n');
  }

  /** Resolves when it is up, or was killed on its way there. */
  async start(url: string): Promise<void> {
    this.#count += 1;
    const name = `pod-${this.#count}`;
    const where = ['--data-dir', join(this.#place, name), '--pod-name', name, '--store', url];
    const args = ['worker', '--json', ...where, '--machines', join(this.#place, 'machines.mjs')];
    const env = { ...process.env, ...TIMES, FLEETQ_LOG_LEVEL: 'silent' };
    const child = spawn(process.execPath, [this.#bin, ...args], {
      env,
      cwd: this.#place,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#children.set(name, child);
    await new Promise<void>((resolve, reject) => {
      child.stdout?.setEncoding('utf8').on('data', (text: string) => {
        if (text.includes('"kind":"ready"')) resolve();
      });
      child.once('exit', (code, signal) => {
        if (signal === 'SIGKILL') resolve();
        else reject(new Error(`${name} ended with ${code ?? signal}`));
      });
    });
  }

  async kill(name: string): Promise<boolean> {
    const child = this.#children.get(name);
    if (!child || child.exitCode !== null || child.signalCode !== null) return false;
    child.kill('SIGKILL');
    await once(child, 'exit');
    this.#children.delete(name);
    return true;
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((name) => this.kill(name)));
  }
}

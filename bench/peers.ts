/**
 * npm run bench -- peers: the same jobs done by FleetQ and by its peers, on one Postgres with the same settings, in
 * rounds that take turns. The peers are installed in a package of their own, bench/peers; what cannot be installed,
 * or does not run here, is null, with the reason.
 *
 *   pickup    one job at a time, put in by another process: until its handler begins; in an idle worker, and within a
 *             second after it has done 20,000
 *   trivial   jobs that do nothing, there before the worker starts
 *   four      lines of four durable steps, there before the worker starts
 *
 * npm run bench -- peers pickup --peers=fleetq,graphile-worker: one of them, by some of the peers.
 */
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startPostgres, type TestPostgres } from '../test/support/postgres.ts';
import { removeTree } from '../test/support/remove-tree.ts';
import { say } from './child.ts';

const isFull = process.argv.includes('--full');
const ROUNDS = isFull ? 5 : 1;
const PICKUPS = 200;
const PAUSE_MS = 30;
const COUNTS = { trivial: 20_000, four: 2_000 } as const;
/** Does some hundred a second: with all of these jobs, rounds would take minutes. */
const SLOW = { peer: 'dbos', share: 0.1 };
const MS_MAX = 180_000;

const PLACE = fileURLToPath(new URL('peers/', import.meta.url));
const ALL = ['fleetq', 'graphile-worker', 'graphile-worker-local', 'pg-boss', 'dbos', 'bullmq'];
const PEERS =
  process.argv
    .find((word) => word.startsWith('--peers='))
    ?.slice('--peers='.length)
    .split(',') ?? ALL;
const MEASURES = ['pickup', 'trivial', 'four'] as const;

type Measure = (typeof MEASURES)[number];
const countOf = (peer: string, measure: keyof typeof COUNTS) =>
  COUNTS[measure] * (peer === SLOW.peer ? SLOW.share : 1);

type Figures = Readonly<Record<string, number>>;

/** `only`: one of the measures; all of them where none is named. */
export async function benchPeers(only?: string): Promise<object> {
  const measures = only === undefined ? MEASURES : MEASURES.filter((name) => name === only);
  const installed = install();
  const redis = findRedis();
  const rounds: Record<string, Partial<Record<Measure, Figures[]>>> = {};
  const missing: Record<string, string> = {};
  for (const peer of PEERS) {
    const why = peer === 'bullmq' && redis === undefined ? 'no redis-server here' : installed;
    if (peer === 'fleetq' || why === undefined) continue;
    for (const measure of measures) missing[`${peer} ${measure}`] = why;
  }
  const server = await startPostgres(['shared_buffers=512MB', 'max_wal_size=4GB']);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const measure of measures) {
        for (const peer of PEERS) {
          if (missing[`${peer} ${measure}`] !== undefined) continue;
          const figures = await measured(peer, measure, server).catch((error: Error) => error);
          if (figures instanceof Error) {
            missing[`${peer} ${measure}`] = figures.message;
            say(`${peer} ${measure}: ${figures.message}`);
            continue;
          }
          say(`${round + 1} ${peer} ${measure}: ${JSON.stringify(figures)}`);
          const own = rounds[peer] ?? {};
          rounds[peer] = { ...own, [measure]: [...(own[measure] ?? []), figures] };
        }
      }
    }
  } finally {
    await server.remove();
  }
  const peers = Object.fromEntries(
    PEERS.map((peer) => [peer, rounds[peer] === undefined ? null : summed(rounds[peer])]),
  );
  return { rounds: ROUNDS, peers, missing };
}

/** Why they are not there; undefined where they are. */
function install(): string | undefined {
  if (existsSync(join(PLACE, 'node_modules'))) return undefined;
  say('installing the peers in bench/peers');
  const options = { cwd: PLACE, encoding: 'utf8' } as const;
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'],
    options,
  );
  return status === 0 ? undefined : `npm install: ${stderr.trim().split('\n').at(0) ?? 'failed'}`;
}

function findRedis(): string | undefined {
  const { status } = spawnSync('redis-server', ['--version']);
  return status === 0 ? 'redis-server' : undefined;
}

async function measured(peer: string, measure: Measure, server: TestPostgres): Promise<Figures> {
  const place =
    peer === 'bullmq'
      ? await startRedis()
      : { url: await server.createDatabase(), stop: async () => {} };
  try {
    return measure === 'pickup'
      ? await pickup(peer, place.url)
      : await throughput(peer, place.url, measure);
  } finally {
    await place.stop();
  }
}

async function pickup(peer: string, url: string): Promise<Figures> {
  let latencies: number[] = [];
  let done = 0;
  const worker = await startSide(peer, 'worker', url, (message) => {
    if (message.kind === 'pickup') latencies.push(message['ms'] as number);
    if (message.kind === 'done') done = message['count'] as number;
  });
  const enqueuer = await startSide(peer, 'enqueuer', url);
  const measure = async () => {
    latencies = [];
    enqueuer.send({ what: 'pickup', count: PICKUPS, pauseMs: PAUSE_MS });
    await until(`${PICKUPS} pickups`, () => latencies.length >= PICKUPS);
    latencies.sort((a, b) => a - b);
    return (share: number) => rounded(latencies[Math.floor((PICKUPS - 1) * share)]!);
  };
  try {
    await sleep(3_000);
    const idle = await measure();
    const [p50, p99] = [idle(0.5), idle(0.99)];
    const busyCount = countOf(peer, 'trivial');
    enqueuer.send({ what: 'trivial', count: busyCount });
    await until(`${busyCount} jobs done`, () => done >= busyCount);
    await sleep(500);
    const busy = await measure();
    return { p50, p99, afterBusyP50: busy(0.5), afterBusyP99: busy(0.99) };
  } finally {
    await Promise.all([end(worker), end(enqueuer)]);
  }
}

async function throughput(
  peer: string,
  url: string,
  measure: 'trivial' | 'four',
): Promise<Figures> {
  const count = countOf(peer, measure);
  // A worker that comes first makes the tables, as a deploy does.
  await end(await startSide(peer, 'worker', url));
  const enqueuer = await startSide(peer, 'enqueuer', url);
  let isIn = false;
  enqueuer.on('message', ({ kind }: Message) => {
    if (kind === 'enqueued') isIn = true;
  });
  enqueuer.send({ what: measure, count });
  await until(`${count} jobs put in`, () => isIn);
  await end(enqueuer);
  let done = { count: 0, at: 0 };
  let readyAt = 0;
  const worker = await startSide(peer, 'worker', url, (message) => {
    if (message.kind === 'ready') readyAt = message['at'] as number;
    if (message.kind === 'done') done = message as unknown as typeof done;
  });
  try {
    await until(`${count} jobs done`, () => done.count >= count);
  } finally {
    await end(worker);
  }
  return { perSecond: rounded(count / ((done.at - readyAt) / 1_000)) };
}

interface Message extends Readonly<Record<string, unknown>> {
  readonly kind: string;
}

async function startSide(
  peer: string,
  role: 'worker' | 'enqueuer',
  url: string,
  onMessage: (message: Message) => void = () => {},
): Promise<ChildProcess> {
  const child = fork(join(PLACE, 'child.mjs'), [peer, role, url], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', onMessage as (message: unknown) => void);
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', ({ kind }: Message) => kind === 'ready' && resolve());
    child.once('exit', (code) => reject(new Error(`its ${role} ended with ${code}`)));
  });
  await ready;
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + MS_MAX;
  while (!isSo()) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${MS_MAX / 1_000} s: ${what}`);
    await sleep(10);
  }
}

/** With its log synced at each command: what the others promise too. */
async function startRedis(): Promise<{ url: string; stop: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'fleetq-redis-'));
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  const options = [
    '--port',
    String(port),
    '--dir',
    dir,
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
  ];
  const redis = spawn('redis-server', [...options, '--bind', '127.0.0.1'], { stdio: 'ignore' });
  await sleep(1_000);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      const exited = once(redis, 'exit');
      redis.kill('SIGKILL');
      await exited;
      removeTree(dir);
    },
  };
}

/** Medians, with the least and the most of all rounds. */
function summed(of: Partial<Record<Measure, Figures[]>>): object {
  return Object.fromEntries(
    Object.entries(of).map(([measure, rounds]) => {
      const names = Object.keys(rounds[0] ?? {});
      const figures = names.map((name) => {
        const values = rounds.map((round) => round[name]!).sort((a, b) => a - b);
        const median = values[Math.floor(values.length / 2)]!;
        return [name, { median, least: values[0]!, most: values.at(-1)! }];
      });
      return [measure, Object.fromEntries(figures)];
    }),
  );
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A real Prometheus that scrapes a pod every second and knows the rules of deploy/prometheus. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { freePort } from '../support/postgres.ts';
import { PROMETHEUS } from './alert-files.ts';

const START_MS_MAX = 90_000;
/** For a rate over a minute to be one. */
const SCRAPES_MIN = 4;

export interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: readonly object[] };
}
export interface LivePrometheus {
  query(expr: string): Promise<Answer>;
  /** Until there is an answer to this. */
  untilScraped(expr: string): Promise<void>;
  /** What it says of its rules: each with its `health` and `lastError`. */
  rules(): Promise<readonly { name: string; health: string; lastError?: string }[]>;
  stop(): Promise<void>;
}

export async function startPrometheus(
  program: string,
  directory: string,
  target: string,
): Promise<LivePrometheus> {
  mkdirSync(directory, { recursive: true });
  const config = join(directory, 'prometheus.yaml');
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [join(PROMETHEUS, 'alerts.yaml')],
      scrape_configs: [{ job_name: 'shop', static_configs: [{ targets: [target] }] }],
    }),
  );
  const at = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(directory, 'data')}`,
      `--web.listen-address=${at}`,
      '--log.level=error',
    ],
    { stdio: 'ignore' },
  );
  const onExit = () => child.kill('SIGKILL');
  process.once('exit', onExit);
  const ask = async (path: string) => (await fetch(`http://${at}/api/v1/${path}`)).json();
  const live: LivePrometheus = {
    query: (expr) => ask(`query?query=${encodeURIComponent(expr)}`) as Promise<Answer>,
    untilScraped: (expr) => untilScraped(live, expr),
    rules: async () => {
      const { data } = (await ask('rules')) as { data: { groups: { rules: [] }[] } };
      return data.groups.flatMap(({ rules }) => rules);
    },
    stop: async () => {
      process.off('exit', onExit);
      await end(child);
    },
  };
  await live
    .untilScraped(`count_over_time(fleetq_leader[1m]) >= ${SCRAPES_MIN}`)
    .catch(async (error) => {
      await live.stop();
      throw error;
    });
  return live;
}

async function untilScraped(live: LivePrometheus, expr: string): Promise<void> {
  const giveUpAt = performance.now() + START_MS_MAX;
  for (;;) {
    const isScraped = await live.query(expr).then(
      ({ data }) => (data?.result.length ?? 0) > 0,
      () => false,
    );
    if (isScraped) return;
    if (performance.now() > giveUpAt) throw new Error(`Prometheus has no ${expr}`);
    await sleep(200);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

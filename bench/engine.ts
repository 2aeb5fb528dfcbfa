/** The engine on one host: throughput against a hand loop, resumption, memory. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shimEnv } from '../test/support/disk-shim.ts';
import { removeTree } from '../test/support/remove-tree.ts';
import { type ChildAnswer, runChild, say } from './child.ts';

const IN_FLIGHT = [1, 50, 200, 1_000] as const;
const ROUNDS = 3;
const SECONDS = 2;

type Rates = Record<string, number>;

/** What a start takes, alone: the other figures of the engine take minutes. */
export async function benchResume(): Promise<object> {
  return { bench: 'resume', node: process.version, ...(await resumption()) };
}

export async function benchEngine(): Promise<object> {
  const runsPerSecond: Rates = {};
  const rawRunsPerSecond: Rates = {};
  const bareRunsPerSecond: Rates = {};
  const shares: Rates = {};
  for (const inFlight of IN_FLIGHT) {
    const rounds = await alternate(inFlight, {});
    runsPerSecond[inFlight] = median(rounds.map((round) => round.engine));
    rawRunsPerSecond[inFlight] = median(rounds.map((round) => round.raw));
    bareRunsPerSecond[inFlight] = median(rounds.map((round) => round.bare));
    shares[inFlight] = shareOf(rounds);
    say(`  share of raw at ${inFlight}: ${shares[inFlight]}`);
  }
  const slow = await alternate(200, shimEnv({ fsyncDelayUs: 1_000 }));
  const slowAlone = await alternate(1, shimEnv({ fsyncDelayUs: 1_000 }));
  return {
    bench: 'engine',
    node: process.version,
    runsPerSecond,
    rawRunsPerSecond,
    bareRunsPerSecond,
    shareOfRaw: shares['200'],
    shareOfRawBy: shares,
    fsync1ms: {
      runsPerSecond: median(slow.map((round) => round.engine)),
      rawRunsPerSecond: median(slow.map((round) => round.raw)),
      shareOfRaw: shareOf(slow),
      shareOfRawAt1: shareOf(slowAlone),
    },
    ...(await resumption()),
    ...(await memory()),
  };
}

interface Round {
  readonly engine: number;
  readonly raw: number;
  readonly bare: number;
}

async function alternate(inFlight: number, env: NodeJS.ProcessEnv): Promise<Round[]> {
  const rounds = await inTurns(['raw', 'engine', 'bare'], inFlight, env);
  return rounds.map(({ raw, engine, bare }) => ({ raw: raw!, engine: engine!, bare: bare! }));
}

/** One kind after the other, again and again, so that whatever else the machine does hits all. */
async function inTurns(
  kinds: readonly string[],
  inFlight: number,
  env: NodeJS.ProcessEnv,
): Promise<Rates[]> {
  const rounds: Rates[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const rates: Rates = {};
    for (const kind of kinds) {
      const answer = await inTempDir((dataDir) =>
        runChild('throughput', { kind, inFlight, seconds: SECONDS, dataDir }, { env }),
      );
      rates[kind] = answer['runsPerSecond'] as number;
      say(`${kind} at ${inFlight} in flight: ${Math.round(rates[kind]!)} runs/s`);
    }
    rounds.push(rates);
  }
  return rounds;
}

/** 10,000 runs inside a phase, their process killed, and the next one timed from its start. */
async function resumption(): Promise<object> {
  const count = 10_000;
  const times = { first: [] as number[], all: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    await inTempDir(async (dataDir) => {
      await runChild('hang', { count, dataDir }, { isKilled: true });
      const spawnedAt = Date.now();
      const answer = await runChild('resume', { count, dataDir }, {});
      times.first.push((answer['firstAt'] as number) - spawnedAt);
      times.all.push((answer['allAt'] as number) - spawnedAt);
      return answer;
    });
    say(`resumed ${count}: first ${times.first.at(-1)} ms, all ${times.all.at(-1)} ms`);
  }
  return { resumeMs10k: median(times.all), resumeFirstMs10k: median(times.first) };
}

async function memory(): Promise<object> {
  const count = 100_000;
  const answer = await inTempDir((dataDir) =>
    runChild('hang', { count, dataDir }, { execArgv: ['--expose-gc'] }),
  );
  say(`memory of ${count} active runs: ${JSON.stringify(answer)}`);
  return {
    activeRuns: count,
    bytesPerActiveRun: answer['bytesPerRun'],
    rssBytesPerActiveRun: answer['rssPerRun'],
  };
}

/** The hand loop with its journal here and in a worker thread: what decided where the journal lives. */
export async function benchThreads(): Promise<object> {
  const shares: Record<string, object> = {};
  for (const [name, env] of [
    ['fsyncAsIs', {}],
    ['fsync1ms', shimEnv({ fsyncDelayUs: 1_000 })],
  ] as const) {
    const byInFlight: Record<string, object> = {};
    for (const inFlight of IN_FLIGHT) {
      const rates = await inTurns(['raw', 'thread'], inFlight, env);
      byInFlight[inFlight] = {
        mainRunsPerSecond: median(rates.map((round) => round['raw']!)),
        threadRunsPerSecond: median(rates.map((round) => round['thread']!)),
        threadOverMain: median(rates.map((round) => round['thread']! / round['raw']!)),
      };
    }
    shares[name] = byInFlight;
  }
  return { bench: 'threads', node: process.version, ...shares };
}

export async function inTempDir(
  act: (dataDir: string) => Promise<ChildAnswer>,
): Promise<ChildAnswer> {
  const parent = mkdtempSync(join(tmpdir(), 'fleetq-bench-'));
  try {
    return await act(join(parent, 'data'));
  } finally {
    removeTree(parent);
  }
}

function shareOf(rounds: readonly Round[]): number {
  return Number(median(rounds.map((round) => round.engine / round.raw)).toFixed(3));
}

export function median(values: readonly number[]): number {
  return Number([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!.toFixed(3));
}

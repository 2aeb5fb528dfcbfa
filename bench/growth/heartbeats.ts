/**
 * What the heartbeats of more and more pods cost: the bytes of all answers of one round, in which every pod beats
 * once, and the time of the statement. By the store itself, without pods that do anything else.
 */
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import type { PodId } from '../../src/store/index.ts';
import { say } from '../child.ts';
import { BenchDatabase, wallMs } from '../fleet-pods.ts';

const PODS = [1, 8, 32, 64];
const ROUNDS = process.argv.includes('--full') ? 100 : 20;
const WARM_ROUNDS = 5;
const TIMES = { heartbeatMs: 3_000, silentMs: 15_000 };
/** As large as that of a pod that calls two APIs. */
const REPORT = {
  version: '1.0.0',
  slots: 64,
  busy: 3,
  queued: 0,
  held: 3,
  filler: 'x'.repeat(300),
};
const mint = runIdMint(systemClock, systemRandom);

export async function growthOfHeartbeats(): Promise<object> {
  const database = await BenchDatabase.start();
  try {
    const rows: object[] = [];
    const pods: Beating[] = [];
    for (const count of PODS) {
      while (pods.length < count) pods.push(await register(database, pods.length));
      rows.push(await measured(database, pods));
    }
    return { rows };
  } finally {
    await database.stop();
  }
}

interface Beating {
  readonly pod: PodId;
  seq: number;
}

async function register({ store }: BenchDatabase, n: number): Promise<Beating> {
  const pod = mint() as string as PodId;
  const silenceMs = TIMES.silentMs;
  const of = { journal: `bench-${n}`, boot: 1, lsn: 0, routes: ['bench-trivial@1'], nonce: 'n' };
  await store.register({ ...of, pod, name: `pod-${n}`, report: REPORT, silenceMs });
  return { pod, seq: 0 };
}

async function measured(database: BenchDatabase, pods: readonly Beating[]): Promise<object> {
  for (let round = 0; round < WARM_ROUNDS; round++) await beatAll(database, pods);
  await database.statements();
  const from = wallMs();
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round++) bytes += await beatAll(database, pods);
  const wall = wallMs() - from;
  const { meanMs } = await database.costOf('beaten');
  const row = {
    pods: pods.length,
    bytesPerRound: Math.round(bytes / ROUNDS),
    statementMs: meanMs,
    wallMsPerBeat: Math.round((wall / ROUNDS / pods.length) * 100) / 100,
  };
  say(JSON.stringify(row));
  return row;
}

/** Resolves to the bytes of all answers, written as JSON. */
async function beatAll({ store }: BenchDatabase, pods: readonly Beating[]): Promise<number> {
  let bytes = 0;
  for (const [n, one] of pods.entries()) {
    const { pod, seq } = one;
    const said = { lsn: 0, report: REPORT, leads: n === 0, times: TIMES };
    const answer = await store.beat({ pod, seq, nonce: `${seq}`, ...said });
    if (answer.kind !== 'taken') throw new Error(`a heartbeat was refused: ${answer.status}`);
    one.seq = answer.seq;
    bytes += Buffer.byteLength(JSON.stringify(answer));
  }
  return bytes;
}

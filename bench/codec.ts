/**
 * What sealing costs: a text of each size sealed and opened, and the same runs of the engine with a codec and
 * without, one after the other, so that whatever else the machine does hits both; medians of rounds count.
 */
import { aesCodec, newCodecKey, parseCodecKeys } from '../src/ground/index.ts';
import { runChild, say } from './child.ts';
import { inTempDir, median } from './engine.ts';

const ROUNDS = 5;
const RUNS = 10_000;
const WARM_RUNS = 5_000;
const IN_FLIGHT = 200;
const TEXT_BYTES = [100, 1_000, 10_000, 100_000] as const;
const BYTES_A_ROUND = 20_000_000;
const COUNT_MAX = 20_000;

export async function benchCodec(): Promise<object> {
  const key = newCodecKey('bench');
  const texts = TEXT_BYTES.map((bytes) => measureText(key, bytes));
  const rounds: { plain: number; sealed: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const isPlainFirst = round % 2 === 0;
    const first = await measureRuns(isPlainFirst ? undefined : key);
    const second = await measureRuns(isPlainFirst ? key : undefined);
    rounds.push(isPlainFirst ? { plain: first, sealed: second } : { plain: second, sealed: first });
  }
  const plainUs = median(rounds.map(({ plain }) => plain));
  const sealedUs = median(rounds.map(({ sealed }) => sealed));
  return {
    bench: 'codec',
    node: process.version,
    rounds: ROUNDS,
    texts,
    cpuUsPerRun: { plain: rounded(plainUs), sealed: rounded(sealedUs) },
    cpu: rounded(median(rounds.map(({ plain, sealed }) => sealed / plain))),
    share: rounded((sealedUs - plainUs) / sealedUs),
  };
}

function measureText(key: string, bytes: number): object {
  const codec = aesCodec(parseCodecKeys(key, 'the bench'));
  const place = { run: 'bench', what: 'input' };
  const text = 'x'.repeat(bytes);
  const count = Math.min(COUNT_MAX, BYTES_A_ROUND / bytes);
  const sealed = codec.encode(text, place);
  const timed = (act: () => unknown) => {
    const each = Array.from({ length: ROUNDS }, () => {
      const before = process.cpuUsage();
      for (let index = 0; index < count; index++) act();
      const { user, system } = process.cpuUsage(before);
      return (user + system) / count;
    });
    return rounded(median(each));
  };
  const sealUs = timed(() => codec.encode(text, place));
  const openUs = timed(() => codec.decode(sealed, place));
  say(`${bytes} bytes: ${sealUs} µs of CPU to seal, ${openUs} to open`);
  return { bytes, sealUs, openUs };
}

async function measureRuns(codecKey: string | undefined): Promise<number> {
  const args = { telemetry: 'off', inFlight: IN_FLIGHT, runs: RUNS, warmRuns: WARM_RUNS, codecKey };
  const answer = await inTempDir((dataDir) => runChild('heard', { ...args, dataDir }, {}));
  const cpuUsPerRun = answer['cpuUsPerRun'] as number;
  say(`${codecKey ? 'sealed' : 'plain'}: ${cpuUsPerRun.toFixed(1)} µs of CPU a run`);
  return cpuUsPerRun;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

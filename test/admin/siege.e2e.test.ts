/** A real process under siege: slow sockets and endless bodies delay neither heartbeats nor answers. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore, type Store } from '../../src/index.ts';
import { begin, fleetq, MACHINES, makeDirectory } from '../cli/support.ts';
import { send } from './house.ts';

const SOCKETS = 1_000;
const GIGABYTE = 1024 ** 3;
/** Far from the silence after which it would be taken for dead, and a few of its beats. */
const HEARTBEAT_MS = 500;
const GAP_MS_MAX = 5_000;

/** Says a letter every now and then, and never ends what it has begun. */
function slow(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined).on('data', () => undefined);
  socket.write('POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\n');
  const drip = setInterval(() => socket.writable && socket.write('x'), 200);
  socket.on('close', () => clearInterval(drip));
  return socket;
}

/** As fast as it is taken, until it is refused or a gigabyte is sent. Answers what was sent. */
function flood(
  port: number,
  head: string,
  isChunked: boolean,
): Promise<{ sent: number; text: string }> {
  return new Promise((resolve) => {
    let [sent, text, isOver] = [0, '', false];
    const block = Buffer.alloc(1024 * 1024, 'x');
    const chunk = isChunked
      ? Buffer.concat([Buffer.from(`${block.length.toString(16)}\r\n`), block, Buffer.from('\r\n')])
      : block;
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head);
      const more = () => {
        while (!isOver && sent < GIGABYTE) {
          sent += block.length;
          if (!socket.write(chunk)) return void socket.once('drain', more);
        }
      };
      more();
    });
    socket.on('data', (part) => {
      text += part;
    });
    socket
      .on('error', () => undefined)
      .on('close', () => {
        isOver = true;
        resolve({ sent, text });
      });
  });
}

function rssOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}

/** The longest silence of the pod that anybody saw, until `stop`. */
function watchBeats(store: Store) {
  let [longest, isOver] = [0, false];
  const watching = (async () => {
    while (!isOver) {
      const [pod] = await store.pods();
      longest = Math.max(longest, pod?.silentMs ?? 0);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return longest;
  };
}

interface Besieged {
  readonly url: string;
  readonly listening: string;
  readonly port: number;
  readonly pid: number;
  /** Where it tells its figures. */
  readonly health: string;
  stop(): Promise<void>;
}

async function beginWorker(): Promise<Besieged> {
  const cwd = makeDirectory();
  const url = `sqlite:${join(cwd, 'fleet.db')}`;
  expect((await fleetq(cwd, ['migrate', 'up', '--store', url])).code).toBe(0);
  const times = ['--heartbeat', `${HEARTBEAT_MS}ms`, '--silence', '20s'];
  const places = ['--listen', '127.0.0.1:0', '--health-listen', '127.0.0.1:0'];
  const worker = begin(['worker', '--json', '--store', url, ...places, ...times], {
    cwd,
    env: { FLEETQ_MACHINES: MACHINES, FLEETQ_LOG_LEVEL: 'warn' },
    timeoutMs: 400_000,
  });
  const [line] = await worker.said(/\{.*"kind":"ready".*\}/);
  const { listening, pid, health } = JSON.parse(line!) as Besieged;
  const port = Number(listening.split(':').at(-1));
  expect((await send(listening, 'GET', '/api/v1/status', {})).status).toBe(200);
  const stop = async () => {
    worker.child.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  };
  return { url, listening, port, pid, health, stop };
}

const HEAD = 'POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';

/** A gigabyte that says how long it is, and one that does not; both are refused before they are sent. */
async function floodBoth(port: number): Promise<void> {
  const told = await flood(port, `${HEAD}content-length: ${GIGABYTE}\r\n\r\n`, false);
  const chunked = await flood(port, `${HEAD}transfer-encoding: chunked\r\n\r\n`, true);
  for (const { text, sent } of [told, chunked]) {
    expect(text === '' || /^HTTP\/1\.1 413 /.test(text)).toBe(true);
    expect(sent).toBeLessThan(GIGABYTE);
  }
}

/** The longest that the loop of the process was held up since this was last asked. */
async function lagMsOf(health: string): Promise<number> {
  const { text } = await send(health, 'GET', '/metrics', {});
  return Number(/^nodejs_eventloop_lag_max_seconds ([\d.e-]+)$/m.exec(text)?.[1]) * 1_000;
}

const quiet = () => new Promise((resolve) => setTimeout(resolve, 1_000));

test('1,000 slow sockets and bodies of 1 GB delay no heartbeat, and others are answered', async () => {
  const { url, listening, port, pid, stop } = await beginWorker();
  const store = await openStore(url, { clock: systemClock, random: systemRandom });
  const before = rssOf(pid);
  const beats = watchBeats(store);
  const sockets: Socket[] = [];
  try {
    for (let count = 0; count < SOCKETS; count++) {
      sockets.push(slow(port));
      if (count % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await floodBoth(port);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(listening, 'GET', '/api/v1/status', {})),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  expect(await beats()).toBeLessThan(GAP_MS_MAX);
  expect(rssOf(pid) - before).toBeLessThan(96 * 1024 * 1024);
  expect((await send(listening, 'GET', '/api/v1/status', {})).body.pid).toBe(pid);
  await store.close();
  await stop();
}, 400_000);

test('a body of 1 GB costs less than 2 MiB, and holds the process up for less than 50 ms', async () => {
  const { port, pid, health, stop } = await beginWorker();
  // What a first body loads and makes room for is no cost of the next one.
  for (let count = 0; count < 10; count++) await floodBoth(port);
  await lagMsOf(health);
  const [costs, lags, otherwise]: [number[], number[], number[]] = [[], [], []];
  for (let count = 0; count < 9; count++) {
    await quiet();
    otherwise.push(await lagMsOf(health));
    const before = rssOf(pid);
    await floodBoth(port);
    await quiet();
    costs.push(rssOf(pid) - before);
    lags.push(await lagMsOf(health));
  }
  const middle = (those: number[]) => [...those].sort((a, b) => a - b)[4]!;
  // Of several, for collecting garbage and the rest of the machine have their say in each of them.
  expect(middle(costs)).toBeLessThan(2 * 1024 * 1024);
  expect(middle(lags)).toBeLessThan(middle(otherwise) + 50);
  await stop();
}, 400_000);

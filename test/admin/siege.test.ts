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

test('1,000 slow sockets and bodies of 1 GB delay no heartbeat, and others are answered', async () => {
  const cwd = makeDirectory();
  const url = `sqlite:${join(cwd, 'fleet.db')}`;
  expect((await fleetq(cwd, ['migrate', 'up', '--store', url])).code).toBe(0);
  const times = ['--heartbeat', `${HEARTBEAT_MS}ms`, '--silence', '20s'];
  const worker = begin(['worker', '--json', '--store', url, '--listen', '127.0.0.1:0', ...times], {
    cwd,
    env: { FLEETQ_MACHINES: MACHINES, FLEETQ_LOG_LEVEL: 'warn' },
    timeoutMs: 400_000,
  });
  const [line] = await worker.said(/\{.*"kind":"ready".*\}/);
  const { listening, pid } = JSON.parse(line!) as { listening: string; pid: number };
  const port = Number(listening.split(':').at(-1));
  const store = await openStore(url, { clock: systemClock, random: systemRandom });
  expect((await send(listening, 'GET', '/api/v1/status', {})).status).toBe(200);
  const before = rssOf(pid);
  const beats = watchBeats(store);
  const sockets: Socket[] = [];
  try {
    for (let count = 0; count < SOCKETS; count++) {
      sockets.push(slow(port));
      if (count % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const head =
      'POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
    const told = await flood(port, `${head}content-length: ${GIGABYTE}\r\n\r\n`, false);
    const chunked = await flood(port, `${head}transfer-encoding: chunked\r\n\r\n`, true);
    for (const { text, sent } of [told, chunked]) {
      expect(text === '' || /^HTTP\/1\.1 413 /.test(text)).toBe(true);
      expect(sent).toBeLessThan(GIGABYTE);
    }
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
  worker.child.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
}, 400_000);

/** The socket: whatever is asked, the answer is JSON, and a mistake of the asker is a 4xx. */
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { AdminServer, deskOf, socketDoor } from '../../src/admin/index.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, defineMachine, exponential, type Fleet } from '../../src/index.ts';
import { gate } from '../support/fleets.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const BODY_MAX = 10_000;
let fleet: Fleet;
let server: AdminServer;
let path: string;
let opening: ReturnType<typeof gate<void>>;

const machines = [
  defineMachine({
    name: 'test/double',
    version: 1,
    input: z.object({ n: z.number() }),
    check: 'none',
    work: ({ input }) => input.n * 2,
  }),
  defineMachine({
    name: 'test/gated',
    version: 1,
    input: z.object({}),
    retry: { attemptMax: 1, backoff: exponential('1ms') },
    check: 'none',
    work: () => opening.opened.then(() => 'open'),
    persist: ({ work }) => work,
  }),
];

beforeEach(async () => {
  opening = gate();
  const dataDir = newDir();
  fleet = await createFleet({ machines, dataDir, socket: false });
  server = serverOf({ pid: 7 });
  path = join(dataDir, 'fleetq.sock');
  await server.start(path, owner);
});
afterEach(async () => {
  opening.open();
  await server.stop();
  await fleet.drain();
});

const owner = socketDoor('tester@socket');

function serverOf(about: object): AdminServer {
  const of = { fleet, clock: systemClock, random: systemRandom, resultBytesMax: 0, redacted: [] };
  const desk = { ...deskOf(of), bodyBytesMax: BODY_MAX, about };
  return new AdminServer(desk);
}

interface Answer {
  readonly status: number;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  readonly body: any;
}

function open(
  method: string,
  url: string,
  headers: Record<string, string> = {},
  write: (sent: ClientRequest) => void = (sent) => sent.end(),
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath: path, method, path: url, headers, agent: false }, resolve);
    sent.on('error', reject);
    write(sent);
  });
}

async function ask(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return read(await open(method, url, headers, (sent) => sent.end(text)));
}

async function read(answer: IncomingMessage): Promise<Answer> {
  let text = '';
  for await (const chunk of answer.setEncoding('utf8')) text += chunk;
  const type = answer.headers['content-type'] ?? '';
  return { status: answer.statusCode ?? 0, type, body: text && JSON.parse(text) };
}

const start = (machine: string, input: unknown) =>
  ask('POST', '/api/v1/runs', { machine, input }).then(({ body }) => body.id as string);

describe('what can be asked', () => {
  test('status and machines', async () => {
    expect((await ask('GET', '/api/v1/status')).body).toMatchObject({ pid: 7, boot: 1, busy: 0 });
    expect((await ask('GET', '/api/v1/machines')).body.machines).toMatchObject([
      { name: 'test/double', version: 1, transitions: [{ step: 'main', phase: 'work' }] },
      { name: 'test/gated' },
    ]);
  });

  test('a run is started, waited for, shown and listed', async () => {
    const started = await ask('POST', '/api/v1/runs', { machine: 'test/double', input: { n: 2 } });
    expect(started.status).toBe(201);
    const { id } = started.body;
    const ended = await ask('GET', `/api/v1/runs/${id}/result?waitMs=5000`);
    expect(ended).toMatchObject({ status: 200, body: { status: 'completed', output: 4 } });
    expect((await ask('GET', `/api/v1/runs/${id}`)).body).toMatchObject({ id, input: { n: 2 } });
    const { runs } = (await ask('GET', '/api/v1/runs?status=completed&machine=test/double')).body;
    expect(runs).toMatchObject([{ id }]);
    expect(runs[0]).not.toHaveProperty('output');
    expect((await ask('GET', `/api/v1/runs/${id}/events?after=0`)).body).toMatchObject({
      events: [{ seq: 1, state: 'completed' }],
      hasMore: false,
    });
  });

  test('waiting ends with 202 while the run goes on, and a cancel ends the run', async () => {
    const id = await start('test/gated', {});
    expect((await ask('GET', `/api/v1/runs/${id}/result?waitMs=20`)).status).toBe(202);
    const cancelled = await ask('POST', `/api/v1/runs/${id}/cancel`, { reason: 'enough' });
    expect(cancelled.body).toMatchObject({ isCancelled: true, outcome: 'cancelled' });
    expect((await ask('GET', `/api/v1/runs/${id}/result?waitMs=20`)).body).toMatchObject({
      outcome: 'cancelled',
      reason: 'enough',
    });
  });

  test('pages go on before a run', async () => {
    const ids = [await start('test/double', { n: 1 }), await start('test/double', { n: 2 })];
    const { runs } = (await ask('GET', `/api/v1/runs?limit=1&before=${ids[1]}`)).body;
    expect(runs.map((run: { id: string }) => run.id)).toEqual([ids[0]]);
  });
});

describe('mistakes', () => {
  test.each<[string, string, string, unknown, number, string]>([
    ['an unknown path', 'GET', '/api/v1/nothing', undefined, 404, 'FLEETQ_NO_SUCH_PATH'],
    ['a path like a property', 'GET', '/__proto__', undefined, 404, 'FLEETQ_NO_SUCH_PATH'],
    ['a broken escape', 'GET', '/api/v1/runs/%E0%A4%A', undefined, 400, 'FLEETQ_BAD_REQUEST'],
    ['a wrong method', 'DELETE', '/api/v1/runs', undefined, 405, 'FLEETQ_BAD_METHOD'],
    ['an unknown run', 'GET', '/api/v1/runs/nonsense', undefined, 404, 'FLEETQ_RUN_NOT_FOUND'],
    ['its result', 'GET', '/api/v1/runs/nonsense/result', undefined, 404, 'FLEETQ_RUN_NOT_FOUND'],
    ['its cancel', 'POST', '/api/v1/runs/nonsense/cancel', {}, 404, 'FLEETQ_RUN_NOT_FOUND'],
    ['bad JSON', 'POST', '/api/v1/runs', '{', 400, 'FLEETQ_BAD_REQUEST'],
    ['JSON that is no object', 'POST', '/api/v1/runs', '[1]', 400, 'FLEETQ_BAD_REQUEST'],
    ['no machine', 'POST', '/api/v1/runs', {}, 400, 'FLEETQ_BAD_REQUEST'],
    ['an unknown field', 'POST', '/api/v1/runs', { machin: 'x' }, 400, 'FLEETQ_BAD_REQUEST'],
    [
      'a key that is no text',
      'POST',
      '/api/v1/runs',
      { machine: 'test/double', key: 1 },
      400,
      'FLEETQ_BAD_REQUEST',
    ],
    [
      'an unknown machine',
      'POST',
      '/api/v1/runs',
      { machine: 'test/doubl' },
      404,
      'FLEETQ_REGISTRY',
    ],
    [
      'an unfit input',
      'POST',
      '/api/v1/runs',
      { machine: 'test/double', input: {} },
      422,
      'FLEETQ_SCHEMA',
    ],
    ['an unknown status', 'GET', '/api/v1/runs?status=odd', undefined, 400, 'FLEETQ_BAD_REQUEST'],
    ['a limit of none', 'GET', '/api/v1/runs?limit=0', undefined, 400, 'FLEETQ_BAD_REQUEST'],
    [
      'a wait for ever',
      'GET',
      '/api/v1/runs/x/result?waitMs=9e9',
      undefined,
      400,
      'FLEETQ_BAD_REQUEST',
    ],
  ])('%s is a problem with a code', async (_, method, url, body, status, code) => {
    const answer = await ask(method, url, body);
    expect(answer).toMatchObject({
      status,
      type: 'application/problem+json',
      body: { status, code, type: `urn:fleetq:problem:${code}`, title: expect.any(String) },
    });
  });

  test('a key that is too long is refused, and one used for another input is a conflict', async () => {
    const of = (key: string, n: number) =>
      ask('POST', '/api/v1/runs', { machine: 'test/double', input: { n }, key });
    expect((await of('k'.repeat(600), 1)).status).toBe(400);
    expect((await of('k', 1)).body.id).toBe((await of('k', 1)).body.id);
    expect((await of('k', 2)).status).toBe(409);
  });

  test('an unknown machine is told what it may have meant', async () => {
    const { body } = await ask('POST', '/api/v1/runs', { machine: 'test/doubel' });
    expect(body.hint).toBe('did you mean test/double? there are: test/double, test/gated');
  });

  test('a body that says it is too large is refused before it is sent', async () => {
    const headers = { 'content-length': '1000000000' };
    const answer = await open('POST', '/api/v1/runs', headers, (sent) => sent.flushHeaders());
    expect((await read(answer)).body).toMatchObject({ status: 413, code: 'FLEETQ_TOO_LARGE' });
  });

  test('a body that grows too large on the way is cut off', async () => {
    const answer = await open('POST', '/api/v1/runs', {}, (sent) => {
      for (let i = 0; i < 20; i++) sent.write('x'.repeat(1_000));
    });
    expect((await read(answer)).status).toBe(413);
  });

  test('bytes that are no text are refused, and not journaled as others', async () => {
    const input = Buffer.from(
      '{"machine":"test/double","input":{"n":1},"key":"caf\u00e9"}',
      'latin1',
    );
    const answer = await open('POST', '/api/v1/runs', {}, (sent) => sent.end(input));
    expect((await read(answer)).body).toMatchObject({
      status: 400,
      code: 'FLEETQ_BAD_REQUEST',
      detail: 'the body is not UTF-8',
    });
    expect((await ask('GET', '/api/v1/runs')).body.runs).toEqual([]);
  });

  test('a body of another type is refused', async () => {
    const answer = await ask('POST', '/api/v1/runs', 'a=1', { 'content-type': 'text/plain' });
    expect(answer.status).toBe(415);
  });

  test('what is not HTTP at all harms nobody', async () => {
    const answered = await new Promise<string>((resolve) => {
      const socket = connect(path, () => socket.write('\u0000\u0001 garbage\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
    });
    expect(answered).toMatch(/^HTTP\/1\.1 400/);
    expect((await ask('GET', '/api/v1/status')).status).toBe(200);
  });

  test('while it drains, new runs are refused and old ones are shown', async () => {
    const id = await start('test/gated', {});
    const drained = fleet.drain();
    const refused = await ask('POST', '/api/v1/runs', { machine: 'test/double', input: { n: 1 } });
    expect(refused).toMatchObject({ status: 503, body: { code: 'FLEETQ_DRAINING' } });
    expect((await ask('GET', `/api/v1/runs/${id}`)).body.status).toBe('active');
    opening.open();
    await drained;
  });
});

describe('following', () => {
  /** The records of a stream as they come, as long as it lasts. */
  async function* records(answer: IncomingMessage): AsyncGenerator<{ seq: number; state: string }> {
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const data = /^data: (\{".*)$/m.exec(part)?.[1];
        if (data) yield JSON.parse(data);
      }
    }
  }
  const follow = (id: string, headers: Record<string, string> = {}) =>
    open('GET', `/api/v1/runs/${id}/events`, { accept: 'text/event-stream', ...headers });

  test('gives what is there, then what comes, and ends with the run', async () => {
    const id = await start('test/gated', {});
    const answer = await follow(id);
    expect(answer.headers['content-type']).toBe('text/event-stream');
    const states: string[] = [];
    for await (const { state } of records(answer)) {
      states.push(state);
      if (states.length === 1) opening.open();
    }
    expect(states).toEqual(['main.work', 'main.persist', 'completed']);
  });

  test('goes on after the record that a follower had seen', async () => {
    const id = await start('test/double', { n: 1 });
    await ask('GET', `/api/v1/runs/${id}/result?waitMs=5000`);
    const seen: number[] = [];
    for await (const { seq } of records(await follow(id, { 'last-event-id': '0' }))) seen.push(seq);
    expect(seen).toEqual([1]);
  });

  test('an unknown run is refused before the stream begins', async () => {
    expect((await read(await follow('nonsense'))).status).toBe(404);
  });

  test('more followers than are allowed are refused, and one that leaves makes room', async () => {
    const id = await start('test/gated', {});
    const answers = await Promise.all(Array.from({ length: 64 }, () => follow(id)));
    expect((await read(await follow(id))).body.code).toBe('FLEETQ_TOO_MANY_FOLLOWERS');
    answers[0]!.destroy();
    await expect.poll(async () => (await follow(id)).statusCode).toBe(200);
  });

  test('records that are there already are not told again where there are no others', async () => {
    const id = await start('test/double', { n: 1 });
    await ask('GET', `/api/v1/runs/${id}/result?waitMs=5000`);
    const seen: unknown[] = [];
    for await (const record of records(await follow(id, { 'last-event-id': '1' })))
      seen.push(record);
    expect(seen).toEqual([]);
  });

  test('a stop ends the streams', async () => {
    const id = await start('test/gated', {});
    const stream = records(await follow(id));
    await stream.next();
    await server.stop();
    expect((await stream.next()).done).toBe(true);
  });
});

describe('connections on which nothing is asked', () => {
  const idle = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(path, () => resolve(socket)).on('error', reject);
    });

  test('keep nobody out, however many there are, and the latest stay open', async () => {
    const sockets: Socket[] = [];
    for (let count = 0; count < 300; count++) {
      const socket = await idle();
      sockets.push(socket.on('error', () => undefined).resume());
    }
    expect((await ask('GET', '/api/v1/status')).status).toBe(200);
    const staying = () => sockets.filter(({ closed }) => !closed).length;
    await expect.poll(staying, { timeout: 90_000 }).toBeLessThanOrEqual(64);
    expect(sockets.at(-1)?.closed).toBe(false);
    for (const socket of sockets) socket.destroy();
  });

  test('do not cost anybody an answer that is still on its way', async () => {
    const id = await start('test/gated', {});
    const ended = ask('GET', `/api/v1/runs/${id}/result?waitMs=20000`);
    await ask('GET', '/api/v1/status');
    const sockets: Socket[] = [];
    for (let count = 0; count < 80; count++) {
      sockets.push((await idle()).on('error', () => undefined).resume());
    }
    opening.open();
    expect((await ended).body).toMatchObject({ status: 'completed' });
    for (const socket of sockets) socket.destroy();
  });
});

describe('the socket file', () => {
  const another = () => serverOf({});

  test('is for its owner alone, and gone after a stop', async () => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await server.stop();
    expect(existsSync(path)).toBe(false);
  });

  test('one that a dead process left is replaced', async () => {
    const stale = join(newDir('stale.sock'));
    const dead = createServer().listen(stale);
    await new Promise((resolve) => dead.once('listening', resolve));
    const next = another();
    await next.start(stale, owner);
    path = stale;
    expect((await ask('GET', '/api/v1/status')).status).toBe(200);
    await next.stop();
    dead.close();
  });

  test('what is not a socket is left alone', async () => {
    const file = newDir('letter.txt');
    writeFileSync(file, 'dear reader');
    await expect(another().start(file, owner)).rejects.toThrow('is not a socket');
  });

  test('a path that is too long is refused with what to do', async () => {
    const long = join(newDir('x'.repeat(60)), 'y'.repeat(60));
    mkdirSync(join(long, '..'), { recursive: true });
    await expect(another().start(long, owner)).rejects.toMatchObject({
      message: expect.stringContaining('the system allows'),
      hint: expect.stringContaining('shorter path'),
    });
  });
});

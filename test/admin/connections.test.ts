/** Many who ask at once: each is answered, whoever else says nothing meanwhile. */
import { EventEmitter } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { CONNECTIONS_MAX, Connections } from '../../src/admin/connections.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { useHouses } from './house.ts';

const openHouse = useHouses();
const open: Socket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

const portOf = (at: string) => Number(at.split(':').at(-1));

/** A connection of its own, with all of its request at once; the first line of the answer, or why none. */
function askOnce(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let told = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (part) => {
      told += part;
    });
    socket.on('error', (error) => resolve(`${(error as NodeJS.ErrnoException).code}`));
    socket.on('close', () => resolve(told.split('\r\n')[0] || 'ended'));
  });
}

/** Begins a request, and never ends it. */
function slow(port: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve());
    open.push(socket.on('error', () => resolve()).resume());
    socket.write('POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\n');
  });
}

const GET = 'GET /api/v1/session HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
const POST = [
  'POST /api/v1/session HTTP/1.1',
  'host: localhost',
  'connection: close',
  'content-type: application/json',
  'content-length: 20000',
  '',
  ' '.repeat(20_000),
].join('\r\n');

describe('at once', () => {
  test.each([100, 150, 450])(
    '%i connections with a question each are all answered',
    async (count) => {
      const house = await openHouse();
      const port = portOf(house.at);
      const asked = Array.from({ length: count }, () => askOnce(port, GET));
      const lines = new Set(await Promise.all(asked));
      expect([...lines]).toEqual(['HTTP/1.1 401 Unauthorized']);
    },
    60_000,
  );

  test('150 that send a body are, too', async () => {
    const house = await openHouse();
    const asked = Array.from({ length: 150 }, () => askOnce(portOf(house.at), POST));
    expect([...new Set(await Promise.all(asked))]).toEqual(['HTTP/1.1 400 Bad Request']);
  });

  test('450 are, while 1,000 others say what they want slowly', async () => {
    const house = await openHouse();
    const port = portOf(house.at);
    await Promise.all(Array.from({ length: 1_000 }, () => slow(port)));
    const asked = Array.from({ length: 450 }, () => askOnce(port, GET));
    expect([...new Set(await Promise.all(asked))]).toEqual(['HTTP/1.1 401 Unauthorized']);
    await expect
      .poll(() => open.filter(({ closed }) => !closed).length, { timeout: 90_000 })
      .toBeLessThanOrEqual(64);
  });
});

class Line extends EventEmitter {
  destroyed = false;
  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

describe('of those that wait', () => {
  const opened = (connections: Connections, count: number) =>
    Array.from({ length: count }, () => {
      const line = new Line();
      connections.add(line);
      return line;
    });
  const isOpen = ({ destroyed }: Line) => !destroyed;

  test('none is ended that has just come, and the longest are once they had their time', async () => {
    const clock = new FakeClock();
    const lines = opened(new Connections(clock), 100);
    await clock.advance(1_000);
    expect(lines.filter(isOpen)).toHaveLength(100);
    await clock.advance(1_000);
    expect(lines.map(isOpen)).toEqual([...Array(36).fill(false), ...Array(64).fill(true)]);
  });

  test('one that is asked something on is not among them, until it is answered', async () => {
    const clock = new FakeClock();
    const connections = new Connections(clock);
    const [first, ...rest] = opened(connections, 100);
    const response = new EventEmitter();
    connections.occupy(first!, response);
    await clock.advance(3_000);
    expect([isOpen(first!), rest.filter(isOpen).length]).toEqual([true, 64]);
    response.emit('close');
    await clock.advance(3_000);
    expect([isOpen(first!), rest.filter(isOpen).length]).toEqual([true, 63]);
  });

  test('the longest gives way at once where there are too many in all', () => {
    const lines = opened(new Connections(new FakeClock()), CONNECTIONS_MAX + 3);
    expect(lines.findIndex(isOpen)).toBe(3);
  });
});

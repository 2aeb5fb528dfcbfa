/** Which times fit together, and what a process for suspects is told of them. */
import { expect, test } from 'vitest';
import { checkTimes } from '../../src/fleet/options.ts';
import { refuseOddListen } from '../../src/fleet-option-names.ts';
import { suspectOrders } from '../../src/join.ts';
import { defineThrottle } from '../../src/throttle/index.ts';

const TIMES = { heartbeatMs: 3_000, silentMs: 15_000, archiveMs: 1_000, idlePollMs: 1_000 };
const DAY_MS = 24 * 3_600_000;

test.each([
  [{ heartbeatMs: 49 }, /too often/],
  [{ silentMs: 3 * TIMES.heartbeatMs - 1 }, /must outlast three heartbeats/],
  [{ heartbeatMs: 1_000 * DAY_MS, silentMs: 3_650 * DAY_MS }, /too long/],
  [{ silentMs: DAY_MS + 1 }, /too long/],
  [{ archiveMs: 9 }, /too often/],
  [{ archiveMs: DAY_MS }, /too seldom/],
])('times that cannot be kept are refused: %j', (changed, message) => {
  expect(() => checkTimes({ ...TIMES, ...changed })).toThrow(message);
});

test.each([{}, { silentMs: 3 * TIMES.heartbeatMs }, { heartbeatMs: DAY_MS / 3, silentMs: DAY_MS }])(
  'times that can be kept are taken: %j',
  (changed) => {
    expect(() => checkTimes({ ...TIMES, ...changed })).not.toThrow();
  },
);

test('an address to listen on is looked at before anything begins', () => {
  expect(() => refuseOddListen('127.0.0.1:0')).toThrow(
    'listen must be as { address: \'127.0.0.1:7433\' }, got "127.0.0.1:0"',
  );
  expect(() => refuseOddListen({})).toThrow('got the address undefined');
  expect(() => refuseOddListen({ address: 'localhost' })).toThrow('got the address "localhost"');
  for (const listen of [undefined, { address: ':0' }, { address: '[::1]:7433' }]) {
    expect(() => refuseOddListen(listen)).not.toThrow();
  }
});

test('a process for suspects speaks to the store as its parent does', () => {
  const way = {
    store: 'postgres://app@db/fleet',
    isPooled: true,
    claimMode: 'cas',
    poolSize: 3,
    heartbeat: '1s',
    silence: '5s',
  } as const;
  const limits = {
    throttles: [defineThrottle('llm', { limits: { perSecond: 1 } })],
    apis: { crm: 4 },
  };
  const options = { ...way, ...limits, machines: [], modules: ['./machines.js'], podName: 'alder' };
  const base = { dataDir: '/data', resultBytesMax: 1_000 };
  expect(suspectOrders(options, base)).toEqual({
    ...way,
    ...base,
    ...limits,
    modules: ['./machines.js'],
    podName: 'alder',
  });
  expect(suspectOrders({ ...options, modules: undefined }, base)).toBeUndefined();
});

/** What a program says wrongly is refused in words before anything is done, and nothing is left out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { faultOfOptions, namesOf } from '../../src/config/known-options.ts';
import {
  createFleet,
  defineMachine,
  defineSchedule,
  type Fleet,
  governProcess,
  openStore,
  writeLogs,
} from '../../src/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const mail = defineMachine({
  name: 'mail',
  version: 1,
  input: z.object({ n: z.int() }),
  check: 'none',
  work: () => 1,
});
let fleet: Fleet;
beforeAll(async () => {
  fleet = await createFleet({
    ...{ machines: [mail], store: 'memory:', dataDir: newDir() },
    ...{ isClient: true, socket: false },
  });
});
afterAll(() => fleet.drain());

const enqueue = (options: unknown) => fleet.enqueue(mail, { n: 1 }, options as object);
const rows = () => fleet.store.queues();

test.each([
  [
    { serialkey: 'a' },
    /enqueue has no option "serialkey": did you mean serialKey\? there are: key,/,
  ],
  [{ delay: '1h' }, /enqueue has no option "delay": there are/],
  [null, /enqueue takes an object, got null/],
  ['1h', /enqueue takes an object, got "1h"/],
  [{ runAt: 1_794_874_679_046 }, /runAt must be a duration such as '30s', or a Date, got 1794874/],
  [{ key: 'a\0' }, /key must be text without NUL/],
  [{ queue: '\udc00a' }, /queue must be text without NUL and halves of surrogate pairs/],
  [{ serialKey: '\ud800' }, /serialKey must be text without/],
  [{ key: 'schedule/nightly/2030-01-01T00:00:00.000Z' }, /key must not begin with schedule\//],
] as const)('enqueue refuses %j', async (options, message) => {
  const before = await rows();
  await expect(enqueue(options)).rejects.toThrow(message);
  expect(await rows()).toEqual(before);
});

test('whole characters of every kind, and options that are undefined, are taken', async () => {
  await enqueue({ key: 'a 👩‍🚀 ß', queue: '\u{1f600}', delay: undefined });
  await enqueue({ key: 'schedules/mine' });
});

test.each([
  [() => fleet.enqueueMany(mail, 7 as never), /takes a list, a generator or a stream .* got 7/],
  [() => fleet.enqueueMany(mail, 'ab' as never), /takes a list, .* got "ab"/],
  [() => fleet.enqueueMany(mail, [], { batchmax: 3 } as never), /did you mean batchMax\?/],
  [() => fleet.enqueueMany(mail, [], null as never), /enqueueMany takes an object, got null/],
  [() => fleet.startLocal(mail, { n: 1 }, { kye: 'a' } as never), /did you mean key\?/],
  [async () => (await enqueue({})).result({ timeOut: '1s' } as never), /did you mean timeout\?/],
  [async () => fleet.drain({ budgets: '1s' } as never), /did you mean budget\?/],
  [() => createFleet({ machines: [], bogus: 1 } as never), /createFleet has no option "bogus"/],
  [
    () => openStore('memory:', { migrate: true } as never),
    /openStore has no option "migrate": did/,
  ],
  [() => openStore('memory:', null as never), /openStore takes an object, got null/],
  [async () => governProcess(fleet, { exitcode: 1 } as never), /did you mean exitCode\?/],
  [async () => writeLogs({} as never, { phase: 'info' } as never), /did you mean phases\?/],
] as const)('%s is refused', async (act, message) => {
  await expect(act()).rejects.toThrow(message);
});

test('a schedule whose options are mistyped is refused', () => {
  const wish = { name: 'nightly', cron: '@daily', machine: mail, input: { n: 1 } };
  expect(defineSchedule(wish).name).toBe('nightly');
  const mistyped = { ...wish, overlaps: 'skip' };
  expect(() => defineSchedule(mistyped)).toThrow(/no option "overlaps": did you mean overlap\?/);
});

test('looking at the names of options costs next to nothing', () => {
  const known = namesOf({ key: true, queue: true, serialKey: true, priority: true });
  const options = { key: 'a', queue: 'b', priority: 1 };
  const look = (times: number) => {
    const from = process.hrtime.bigint();
    for (let n = 0; n < times; n += 1) faultOfOptions(options, known);
    return Number(process.hrtime.bigint() - from) / times;
  };
  look(20_000);
  // About 100 ns; the least of a few, so that a busy machine does not count.
  expect(Math.min(...[1, 2, 3, 4, 5].map(() => look(20_000)))).toBeLessThan(1_000);
});

/** What runs do with permits that they take and give back by themselves. */
import { afterEach, expect, test } from 'vitest';
import { abort, createFleet, defineMachine, type StepContext } from '../../src/index.ts';
import { anyInput } from '../support/fleets.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

type Work = (context: StepContext<unknown, unknown>, round: number) => Promise<void>;

/** One run with one attempt: its records, and how calls of `api` ended. */
async function recordsOf(work: Work) {
  let round = 0;
  const machine = defineMachine({
    name: 'caller',
    version: 1,
    input: anyInput,
    check: 'none',
    retry: { attemptMax: 1 },
    work: (context) => work(context, ++round),
  });
  const fleet = await createFleet({ machines: [machine], dataDir: newDir(), socket: false });
  ends.push(() => fleet.stopNow());
  const run = await fleet.startLocal(machine, {});
  await run.result().catch(() => undefined);
  const types = fleet.events(run.id).map(({ event }) => event.type);
  return { types, ended: fleet.throttle('api').snapshot().ended };
}

const ofStatus = (status: number) => Object.assign(new Error(`${status}`), { status });
const WAITED = ['STARTED', 'POSTPONED', 'DONE'];
const FAILED = ['STARTED', 'EXHAUSTED'];

test('what a phase throws with a permit in hand is told of the API, and may cost no attempt', async () => {
  const { types, ended } = await recordsOf(async ({ throttle }, round) => {
    const permit = await throttle('api').acquire();
    if (round === 1) throw ofStatus(429);
    permit.release();
  });
  expect(types).toEqual(WAITED);
  expect(ended).toMatchObject({ throttled: 1, ok: 1, ignored: 0 });
});

test('of several permits nobody knows which one it was', async () => {
  const { types, ended } = await recordsOf(async ({ throttle }) => {
    await throttle('api').acquire();
    await throttle('other').acquire();
    throw ofStatus(429);
  });
  expect(types).toEqual(FAILED);
  expect(ended).toMatchObject({ throttled: 0, ignored: 1 });
});

test('a refusal that was counted is not counted again of a permit in hand', async () => {
  const { types, ended } = await recordsOf(async ({ throttle, use }, round) => {
    using _ = await throttle('api').acquire();
    const open = await throttle('api').acquire();
    await use('api', () => (round === 1 ? Promise.reject(ofStatus(429)) : 1));
    open.release();
  });
  expect(types).toEqual(WAITED);
  expect(ended).toMatchObject({ throttled: 1, ok: 2, ignored: 3 });
});

test.each([
  ['says nothing else', () => new Error('no room'), WAITED],
  ['says the same', () => ofStatus(429), WAITED],
  ['says that the call was wrong', () => ofStatus(400), FAILED],
])('after the word that there was no room, an error that %s', async (_, error, records) => {
  const { types, ended } = await recordsOf(async ({ throttle }, round) => {
    const permit = await throttle('api').acquire();
    permit.release(round === 1 ? 'throttled' : 'ok');
    if (round === 1) throw error();
  });
  expect(types).toEqual(records);
  expect(ended.throttled).toBe(1);
});

test('whoever gives up after that has given up', async () => {
  const { types } = await recordsOf(async ({ throttle }) => {
    (await throttle('api').acquire()).release('throttled');
    abort('it is never going to be');
  });
  expect(types).toEqual(['STARTED', 'ABORTED']);
});

test('what is let go without a word says nothing', async () => {
  const { types, ended } = await recordsOf(async ({ throttle }) => {
    using _ = await throttle('api').acquire();
    throw ofStatus(429);
  });
  expect(types).toEqual(FAILED);
  expect(ended).toMatchObject({ throttled: 0, ignored: 1 });
});

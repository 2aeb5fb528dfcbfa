/** APIs that a fleet calls, by the command line, on a store in a file. */
import { expect, test } from 'vitest';
import { encodeReport } from '../../src/throttle/fleet/wire.ts';
import { birthOf } from '../store/factories.ts';
import { published } from '../throttle/published.ts';
import { type Place, usePlaces } from './in-process.ts';

const { makePlace } = usePlaces();

const publish = (place: Place, epoch = 0, over: Parameters<typeof published>[0] = {}) =>
  place.store((store) => store.publishThrottles([{ api: 'llm', epoch, state: published(over) }]));

/** A pod that is there, and calls it. */
async function tell(place: Place) {
  const called = {
    ...{ atMs: 0, mark: 1, beatMs: 3_000, seconds: [], latencies: [], latencyMsSum: 0 },
    ...{ answers: 0, inFlight: 5, waiting: 4, demand: 9 },
  };
  const report = { throttles: { llm: encodeReport(called) } };
  await place.store((store) =>
    store.register({ ...birthOf('alder'), report, silenceMs: 3_600_000 }),
  );
}

test('they are listed, shown, fixed and forgotten; and who did that is on record', async () => {
  const place = await makePlace();
  expect((await place.run('throttles', 'list')).code).toBe(3);
  await publish(place, 0, { ceiling: 40, perSecondMax: 0.5, costPerMinuteMax: 400_000 });
  await tell(place);
  const list = await place.run('throttles', 'list');
  expect(list.stdout).toMatch(/^llm\t6\.4\tadaptive\t5\t4\t/m);
  expect(list.stdout).toContain('the API refused 2 of 50 calls in 10 s');
  const shown = await place.run('throttles', 'show', 'llm');
  expect(shown.stdout).toMatch(/^limit 6\.4, adaptive\nfound to go well: 6\.4$/m);
  expect(shown.stdout).toMatch(
    /^declared at most: 40 at once, 0\.5 a second, cost of 400,000 a minute$/m,
  );
  const wrong = await place.run('throttles', 'show', 'llmm');
  expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('did you mean llm?')]);

  const nameless = await place.run('throttles', 'pin', '', '3');
  expect([nameless.code, nameless.stderr]).toEqual([2, expect.stringContaining('1 to 200')]);
  const off = await place.run('throttles', 'pin', 'llm', 'off', '--for', '1h');
  expect([off.code, off.stderr]).toEqual([2, expect.stringContaining('--for')]);
  const escaped = await place.run('throttles', 'pin', 'a\u001b[31mb', '3', '--dry-run');
  expect([escaped.code, escaped.stdout]).toEqual([2, '']);
  expect(escaped.stderr).not.toContain('\u001b');

  const odd = await place.run('throttles', 'pin', 'llm', 'none');
  expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining('a number above 0')]);
  const never = await place.run('throttles', 'pin', 'llm', '3', '--for', '0s');
  expect([never.code, never.stderr]).toEqual([2, expect.stringContaining('a duration above 0')]);
  await place.json('throttles', 'pin', 'llm', '3', '--dry-run');
  expect(await pinnedOf(place)).toBeUndefined();
  await place.json('throttles', 'pin', 'llm', '3', '--for', '1h');
  expect(await pinnedOf(place)).toBe(3);
  await place.json('throttles', 'pin', 'llm', 'off');
  expect(await pinnedOf(place)).toBeUndefined();
  const much = await place.run('throttles', 'pin', 'llm', '60', '--dry-run');
  expect(much.stderr).toContain('llm was declared to take 40 at most');
  const first = await place.run('throttles', 'pin', 'lmm', '5', '--dry-run');
  expect([first.code, first.stderr]).toEqual([
    0,
    expect.stringMatching(/no pod has told of calls of "lmm" yet.*; did you mean llm\?/),
  ]);
  const early = await place.run('throttles', 'pin', 'never-called', '5', '--dry-run');
  expect(early.stderr).toMatch(
    /no pod has told of calls of "never-called" yet: it holds from the first one on$/m,
  );
  await place.json('throttles', 'reset', 'llm');
  const after = await place.json<{ state: string }>('throttles', 'show', 'llm');
  expect(after.state).toBe('nothing is known of it yet');
  const told = await place.run('audit');
  expect(told.stdout).toMatch(/\tthrottle\.pin\t.*llm to 3 for \d/);
  expect(told.stdout).toMatch(/\tthrottle\.reset\t.*llm/);
  const { audit } = await place.json<{ audit: { what: string }[] }>('audit');
  expect(audit.map(({ what }) => what)).toEqual([
    'throttle.reset',
    'throttle.unpin',
    'throttle.pin',
  ]);
});

test('a limit that is declared is shown as that, and nothing that was once found out', async () => {
  const place = await makePlace();
  await publish(place, 0, { isAdaptive: false, ceiling: 40 });
  await tell(place);
  expect((await place.run('throttles', 'list')).stdout).toMatch(
    /^llm\t6\.4\tby what is declared\t/m,
  );
  const { stdout, stderr } = await place.run('throttles', 'show', 'llm');
  expect(stdout).toMatch(/^limit 6\.4, by what is declared\ndeclared at most: 40 at once$/m);
  expect(stdout + stderr).not.toMatch(/found|trim/);
  await publish(place, 1, { isAdaptive: false });
  const bare = await place.run('throttles', 'show', 'llm');
  expect(bare.stdout).toMatch(/^limit 6\.4, nothing is declared$/m);
  await publish(place, 2, { isAdaptive: false, ceiling: 40 });
  const watched = await place.run('throttles', 'watch', 'llm', '--timeout', '1s');
  expect(watched.stdout).toMatch(/ \(limit 6\.4, by what is declared\)$/m);
  const json = await place.json<object>('throttles', 'show', 'llm');
  expect(json).toMatchObject({ isAdaptive: false, ceiling: 40 });
  expect(json).not.toHaveProperty('learned');
  expect(json).not.toHaveProperty('decision');
});

test('names that no API can have, and numbers that are likely slips, are not fixed', async () => {
  const place = await makePlace();
  for (const name of ['ab\ncd', 'a\u009bb']) {
    const told = await place.run('throttles', 'pin', name, '3');
    expect([told.code, told.stderr], JSON.stringify(name)).toEqual([
      2,
      expect.stringContaining('the name of an API is a text of 1 to 200 characters'),
    ]);
    expect(told.stderr).not.toContain('\u009b');
  }
  for (const count of ['0x10', ' 5 ', '1e2', '']) {
    const told = await place.run('throttles', 'pin', 'llm', count);
    expect([told.code, told.stderr], count).toEqual([
      2,
      expect.stringContaining('a limit is a number above 0'),
    ]);
  }
  expect((await place.run('throttles', 'list')).code).toBe(3);
  expect((await place.run('throttles', 'pin', 'llm', '2.5')).code).toBe(0);
  expect(await pinnedOf(place)).toBe(2.5);
});

async function pinnedOf(place: Place): Promise<number | undefined> {
  const { throttles } = await place.json<{ throttles: { pinned?: number }[] }>('throttles', 'list');
  return throttles[0]!.pinned;
}

test('one is followed: a line for each change, and none while it stays the same', async () => {
  const [place, calm] = [await makePlace(), await makePlace()];
  await Promise.all([publish(place), publish(calm)]);
  const watching = place.begin('throttles', 'watch', 'llm', '--timeout', '5s');
  const still = calm.json('throttles', 'watch', 'llm', '--timeout', '2500ms');
  const learn = (epoch: number, cap: number) =>
    publish(place, epoch, { learned: { cap, good: cap, latencyMs: 500 } });
  await watching.said(/limit 6\.4/);
  await learn(1, 10);
  await watching.said(/limit 10,/);
  await learn(2, 20);
  await watching.said(/limit 20,/);
  const { code, stdout } = await watching.ended;
  expect(code).toBe(0);
  const line = /^\S+Z {2}no pod is there .*\(limit (6\.4|10|20), adaptive, trim last\)$/;
  const limits = stdout
    .trimEnd()
    .split('\n')
    .map((said) => line.exec(said)?.[1]);
  expect(limits).toEqual(['6.4', '10', '20']);
  expect(await still).toMatchObject({ api: 'llm' });
  const unknown = await place.run('throttles', 'watch', 'crm', '--timeout', '1s');
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('no pod has called')]);
});

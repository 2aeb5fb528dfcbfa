/** What a next leader reads of what calls take without a line, whoever has written it. */
import { expect, test } from 'vitest';
import { Scene } from '../../bench/throttle/scene.ts';
import { decodePublished, decodeReport, formerOf } from '../../src/throttle/fleet/wire.ts';
import { published } from './published.ts';

const LEARNED = { cap: 6.4, good: 6.4, latencyMs: 700, baseMs: 512.5 };
const FELL_FROM = { cap: 48.5, atMs: -20_000 };

function rowOf(state: string, ageMs = 0) {
  return { api: 'llm', epoch: 1, ageMs, state };
}

test('what is normal goes over the wire, and is known after a pause of all pods', () => {
  const state = published({ learned: LEARNED });
  expect(decodePublished(rowOf(state), 20_000)!.learned).toMatchObject(LEARNED);
  const late = formerOf(rowOf(state, 3_600_000), 4_000_000, 8)!;
  expect(late.learned).toMatchObject({ good: 6.4, baseMs: 512.5 });
});

test('what went well before a fall goes over the wire with its age', () => {
  const state = published({ learned: { ...LEARNED, fellFrom: FELL_FROM } });
  const { learned } = decodePublished(rowOf(state, 5_000), 100_000)!;
  expect(learned.fellFrom).toEqual({ cap: 48.5, atMs: 100_000 - 5_000 - 30_000 });
});

test.each([undefined, null, 0, -5, 'soon', [], {}])(
  'a row whose word of what is normal is %j is read without it',
  (base) => {
    const state = { ...JSON.parse(published({ learned: LEARNED })), base };
    const { learned } = decodePublished(rowOf(JSON.stringify(state)), 20_000)!;
    expect(learned).toMatchObject({ cap: 6.4, good: 6.4, latencyMs: 700 });
    expect(learned.baseMs).toBeUndefined();
  },
);

test('nobody is told to leave an API alone for longer than a day, whatever a row says', () => {
  const state = JSON.stringify({ ...JSON.parse(published()), paused: 1e14 });
  expect(decodePublished(rowOf(state), 20_000)!.pausedMs).toBe(24 * 3_600_000);
  const told = { k: 1, b: 3_000, u: 0, s: [], l: [], t: 0, a: 0, f: 0, w: 0, d: 0, p: 1e14 };
  expect(decodeReport(told)!.pausedMs).toBe(24 * 3_600_000);
});

test.each([101, 102, 103])('no line grows while leaders follow each other', (seed) => {
  const scene = new Scene({ kind: 'queueing', pods: 8, seed, by: 'ours', beatMs: 3_000 });
  for (let atS = 240; atS <= 540; atS += 60) {
    scene.runTo(atS);
    scene.fleet!.changeLeader();
  }
  scene.runTo(660);
  // Half a second by the median is 0.9 s by this one, where nobody waits.
  expect(scene.figures(600, 660).p95Ms).toBeLessThan(1_100);
});

/** An API that limits tokens a minute, and says in its headers how many are left. */
import { expect, test } from 'vitest';
import { Throttles } from '../../src/throttle/index.ts';
import { ToldRoom } from '../../src/throttle/permits/told-room.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

const CALLERS = 30;
const TOKENS_A_MINUTE = 200_000;
const MINUTE_MS = 60_000;

/** Callers whose calls cost 500 to 1,500 tokens each, for some minutes. */
async function callFor(minutes: number, saysCost: boolean) {
  const clock = new FakeClock();
  const random = seededRandom(5);
  const throttles = new Throttles({ clock, random: seededRandom(3) });
  const counts = { tokens: 0, refused: 0, ok: 0 };
  const sleep = (ms: number) => new Promise<void>((wake) => clock.after(ms, wake));
  let [left, window] = [TOKENS_A_MINUTE, 0];
  const answer = async (tokens: number) => {
    const nowMs = clock.monotonicMs();
    const at = Math.floor(nowMs / MINUTE_MS);
    if (at > window) [left, window] = [TOKENS_A_MINUTE, at];
    const isRefused = tokens > left;
    if (!isRefused) left -= tokens;
    const headers = {
      'x-ratelimit-remaining-tokens': `${left}`,
      'x-ratelimit-reset-tokens': `${(at + 1) * MINUTE_MS - nowMs}ms`,
    };
    await sleep(isRefused ? 40 : 400 + 200 * random.fraction());
    counts[isRefused ? 'refused' : 'ok']++;
    if (isRefused) throw Object.assign(new Error('refused'), { status: 429, headers });
    counts.tokens += tokens;
    return { status: 200, headers };
  };
  const caller = async () => {
    for (;;) {
      const tokens = 500 + Math.floor(1_000 * random.fraction());
      const options = saysCost ? { cost: tokens } : {};
      await throttles
        .of('llm', { isRetry: false, refusals: 0 })
        .use(() => answer(tokens), options)
        .catch(() => sleep(1_000));
    }
  };
  for (let index = 0; index < CALLERS; index++) void caller();
  await clock.advance(3 * MINUTE_MS);
  Object.assign(counts, { tokens: 0, refused: 0, ok: 0 });
  await clock.advance(minutes * MINUTE_MS);
  return { used: counts.tokens / (minutes * TOKENS_A_MINUTE), ...counts };
}

test('is used to nearly all of it, and refuses hardly anything, where calls say what they cost', async () => {
  const { used, refused, ok } = await callFor(10, true);
  expect(used).toBeGreaterThan(0.9);
  expect(refused).toBeLessThan(0.01 * ok);
});

test('says nothing where nobody says what a call costs', async () => {
  const room = new ToldRoom();
  const costHint = { remaining: 10_000, resetMs: 10_000 };
  room.note({ kind: 'ok', costHint }, 1, 0);
  expect(room.rate(5_000)?.perSecondHint).toBeUndefined();
  room.note({ kind: 'ok' }, 100, 0);
  expect(room.rate(5_000)?.perSecondHint).toBe(10);
});

test('of what is left of calls and of tokens the scarcer is gone by, while it is fresh', () => {
  const room = new ToldRoom();
  const hint = { remaining: 50, resetMs: 10_000 };
  room.note({ kind: 'ok', hint, costHint: { remaining: 100_000, resetMs: 5_000 } }, 1_000, 0);
  expect(room.rate(4_999)?.perSecondHint).toBe(5);
  room.note({ kind: 'ok', costHint: { remaining: 10_000, resetMs: 5_000 } }, 1_000, 0);
  expect(room.rate(4_999)?.perSecondHint).toBe(2);
  expect(room.rate(5_000)?.perSecondHint).toBe(5);
  expect(room.rate(10_000)?.perSecondHint).toBeUndefined();
});

/** APIs that the fleet calls, as somebody looks at them and fixes their limits: by mouse and by keys. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { effectsOf } from '../../admin-ui/src/pages/throttles/effects.ts';
import {
  moodLabel,
  moodOf,
  permitsOf,
  showDeclared,
  showParked,
  worstFirst,
} from '../../admin-ui/src/pages/throttles/throttle-words.ts';
import type { Throttle } from '../../admin-ui/src/services/fleet-types.ts';
import {
  openStage,
  PATIENCE_MS,
  post,
  program,
  type Stage,
  TEST_MS_MAX,
  useBrowser,
  useTempDirs,
} from './stage.ts';

const newDir = useTempDirs();
const patiently = { timeout: PATIENCE_MS };
const API = 'llm/eu';

test('of a limit below one there is one permit, as the sentence says', () => {
  expect([0.3, 0.9, 1, 1.9, 7.2].map(permitsOf)).toEqual([1, 1, 1, 1, 7]);
  expect(permitsOf(0)).toBe(0);
});

test('what a limit would do is said in words, and what is none is refused', () => {
  const pin = (limit: number, inFlight = 5) =>
    effectsOf({ order: 'pin', limit, during: '1h' }, { cap: 6.4, inFlight });
  expect(pin(3).effects.slice(0, 2)).toEqual([
    'The whole fleet has 3 calls at once at most, instead of 6.4 now.',
    '5 are out: they go on, and nothing begins until 2 of them are over.',
  ]);
  expect(pin(20).effects.join(' ')).toContain('more than twice of what was found to go well');
  expect(pin(6, 1).effects).toContain('1 is out now.');
  for (const wrong of [0, -1, Number.NaN, 1e7]) {
    expect(pin(wrong)).toMatchObject({ effects: [], wrong: expect.stringContaining('above 0') });
  }
});

test('what was declared is said, and nothing where nothing was', () => {
  const of = { api: 'a', state: '', breaker: 'closed', pausedMs: 0, ageMs: 0, pods: [] } as const;
  expect(showDeclared(of)).toBeUndefined();
  expect(showDeclared({ ...of, ceiling: 40, perSecond: 0.5, costPerMinute: 400_000 })).toBe(
    '40 at once, 0.5 a second, cost of 400,000 a minute',
  );
});

test('of several things to say of an API, the worst is said', () => {
  const sums = { demand: 9, inFlight: 5, sent: 50, ok: 50, failed: 0 };
  const now = { ...sums, waiting: 0, throttled: 0 };
  const of = { api: 'a', state: '', breaker: 'closed', pausedMs: 0, ageMs: 0, pods: [] } as const;
  const known: Throttle = { ...of, cap: 6, now };
  const busy = { ...now, waiting: 3 };
  const moods = [
    moodOf(of),
    moodOf(known),
    moodOf({ ...known, now: busy }),
    moodOf({ ...known, now: { ...busy, throttled: 2 } }),
    moodOf({ ...known, pausedMs: 5, now: { ...busy, throttled: 2 } }),
    moodOf({ ...known, breaker: 'half-open' }),
  ];
  expect(moods).toEqual(['unknown', 'fine', 'busy', 'refused', 'alone', 'alone']);
});

test('one that no pod calls is idle, and one with permits left is not at its limit', () => {
  const sums = { demand: 9, sent: 50, ok: 50, failed: 0, throttled: 0 };
  const of = { state: '', breaker: 'closed', pausedMs: 0, ageMs: 0, pods: [], cap: 6 } as const;
  const left: Throttle = { ...of, api: 'a-left' };
  const paced: Throttle = { ...of, api: 'b-paced', now: { ...sums, inFlight: 0, waiting: 2 } };
  const full: Throttle = { ...of, api: 'c-full', now: { ...sums, inFlight: 6, waiting: 2 } };
  const shut: Throttle = { ...full, api: 'd-shut', breaker: 'open' };
  const parked = { count: 500, isExact: false };
  const waited: Throttle = { ...full, api: 'e', now: { ...full.now!, waiting: 0 }, parked };
  const fine: Throttle = { ...waited, api: 'f', parked: { count: 0, isExact: true } };
  expect([left, paced, full, fine].map(moodLabel)).toEqual([
    'Idle',
    'Calls wait',
    'At its limit',
    'Fine',
  ]);
  expect(worstFirst([left, paced, full, fine, shut, waited]).map(({ api }) => api)).toEqual([
    'd-shut',
    'b-paced',
    'c-full',
    'e',
    'f',
    'a-left',
  ]);
  expect([waited, fine, left].map(showParked)).toEqual(['500+', '0', '–']);
});

describe.skipIf(program === undefined)('throttles in pages', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  const pinned = async () => {
    const [row] = await stage.fleet.store.throttles();
    return row?.pinned;
  };
  beforeAll(async () => {
    stage = await openStage(newDir());
    const { fleet, opening } = stage;
    fleet
      .throttle(API)
      .use(() => opening.opened)
      .catch(() => undefined);
  });
  afterAll(() => stage?.stop());

  test('by mouse: how it is, who has which share, and a limit that says first what it does', async () => {
    const { page } = await open(stage, '/throttles');
    const row = page.locator('tr', { hasText: API });
    await expect.poll(() => row.textContent(), patiently).toMatch(/1 of \d+ permits are out/);
    await row.getByRole('link', { name: API }).click();
    await page.getByRole('heading', { level: 1, name: API }).waitFor();
    const pods = page.getByRole('region', { name: 'Pods' });
    await expect.poll(() => pods.locator('a[data-row]').count(), patiently).toBe(1);
    await page.getByRole('button', { name: 'Fix the limit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/Calls at once/).fill('0');
    await dialog.getByText('A limit is a number above 0').waitFor();
    expect(await dialog.getByRole('button', { name: 'Fix it' }).isDisabled()).toBe(true);
    await dialog.getByLabel(/Calls at once/).fill('3');
    await dialog.getByText('The whole fleet has 3 calls at once at most').waitFor();
    await dialog.getByText(`fleetq throttles pin ${API} 3 --for 1h`).waitFor();
    expect(await pinned()).toBeUndefined();
    await dialog.getByLabel(/Reason/).fill('they asked us to');
    await dialog.getByRole('button', { name: 'Fix it' }).click();
    await page.getByText(`${API} has its limit fixed`).waitFor();
    expect(await pinned()).toBe(3);
    await page
      .getByText(/fixed to 3 by/)
      .first()
      .waitFor();
    const audit = await fetch(`${stage.url}/api/v1/audit?what=throttle.pin`);
    const { rows } = (await audit.json()) as { rows: { detail: object }[] };
    expect(rows[0]!.detail).toMatchObject({ api: API, cap: 3, reason: 'they asked us to' });
  });

  test('by keys: there, into one, let go of, forget, and back', async () => {
    await post(stage, `/throttles/${encodeURIComponent(API)}/pin`, { limit: 3 });
    const { page } = await open(stage, '/');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await page.locator('a[data-row]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: API }).waitFor();
    await page.getByRole('button', { name: 'Let go of it' }).waitFor();
    await page.keyboard.press('u');
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    await page
      .getByRole('dialog')
      .getByLabel(/Reason/)
      .focus();
    await page.keyboard.press('Enter');
    await page.getByText(`${API} goes by what is found out again`).waitFor();
    expect(await pinned()).toBeUndefined();
    await page.keyboard.press('r');
    await page.getByRole('dialog').getByText('is forgotten').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/throttles');
    await page.goto(`${stage.url}/throttles/nobody`);
    await page.getByText('no pod has called an API').waitFor();
  });
});

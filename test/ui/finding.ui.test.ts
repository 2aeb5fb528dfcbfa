/** Ways to find and compare: the palette, views of one's own, zones, two runs side by side. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Choice, choicesFor } from '../../admin-ui/src/pages/choices.ts';
import { alignedOf, partedAt } from '../../admin-ui/src/pages/compare/sides.ts';
import { KNOWN_VIEWS } from '../../admin-ui/src/pages/runs/known-views.ts';
import { timeIn, zoneNamed } from '../../admin-ui/src/platform/zones.ts';
import type { RunRecord } from '../../admin-ui/src/services/types.ts';
import { parseFilter } from '../../src/query/index.ts';
import { judge } from './axe.ts';
import {
  openStage,
  program,
  type Stage,
  TEST_MS_MAX,
  until,
  useBrowser,
  useTempDirs,
} from './stage.ts';

const newDir = useTempDirs();

test('a few letters find what begins with them first, and a run by its id', () => {
  const all: Choice[] = ['Dead letters', 'Errors', 'Overview', 'Runs', 'image/errors'].map(
    (name) => ({ kind: 'page', name, to: `/${name}` }),
  );
  const names = (text: string) => choicesFor(text, all).map(({ name }) => name);
  expect(names('')).toEqual(all.map(({ name }) => name));
  expect(names('err')).toEqual(['Errors', 'image/errors', 'Search runs: err']);
  expect(names('dls')[0]).toBe('Dead letters');
  expect(names('no such page')).toEqual(['Search runs: no such page']);
  const id = '01JCQ8ZZZZZZZZZZZZZZZZZZZZ';
  expect(choicesFor(` ${id} `, all)[0]).toMatchObject({ kind: 'run', to: `/runs/${id}` });
  expect(choicesFor('a&b', all).at(-1)!.to).toBe('/runs?q=a%26b');
});

test('every view that everybody has is a filter that the server takes', () => {
  for (const { filter } of KNOWN_VIEWS) expect(() => parseFilter(filter)).not.toThrow();
});

test('times are those of clocks in a zone, with its summer', () => {
  expect(timeIn('Europe/Berlin', Date.UTC(2026, 0, 1, 23, 30, 5, 7))).toBe(
    '2026-01-02T00:30:05.007',
  );
  expect(timeIn('Europe/Berlin', Date.UTC(2026, 6, 1, 23, 30))).toBe('2026-07-02T01:30:00.000');
  expect(timeIn('Asia/Kathmandu', Date.UTC(2026, 0, 1))).toBe('2026-01-01T05:45:00.000');
  expect(zoneNamed('asia/TOKYO')).toBe('Asia/Tokyo');
  for (const none of ['Nowhere/Land', 'local', '']) expect(zoneNamed(none)).toBe(undefined);
});

test('two runs part where their records first tell something else', () => {
  const record = (seq: number, type: string, state = 'a.work') => ({ seq, state, event: { type } });
  const course = (...types: string[]) => types.map((type, seq) => record(seq, type)) as RunRecord[];
  expect(partedAt(course('STARTED', 'DONE'), course('STARTED', 'DONE'))).toBe(undefined);
  expect(partedAt(course('STARTED', 'FAILED', 'DONE'), course('STARTED', 'DONE'))).toBe(1);
  expect(partedAt(course('STARTED'), course('STARTED', 'DONE'))).toBe(1);
  expect(alignedOf(['a', 'c'], ['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'c', 'd']);
  expect(alignedOf([], ['x'])).toEqual(['x']);
});

describe.skipIf(program === undefined)('finding', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  async function made(machine: string, status: string, input: object): Promise<string> {
    const { id } = await stage.fleet.enqueueByName(machine, input);
    await until(stage, id, status);
    return id;
  }

  async function judged(what: string, page: Page): Promise<void> {
    expect(await judge(what, page)).toEqual([]);
  }

  test('the palette opens by keys, also from a field, and leads to pages, machines and runs', async () => {
    const id = await made('ui/order', 'completed', {});
    const { page } = await open(stage, '/runs');
    const filter = page.getByRole('combobox', { name: 'Filter runs' });
    await filter.focus();
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: /^Page, view/ });
    await field.waitFor();
    await judged('the palette', page);
    await page.keyboard.type('dead');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Dead letters', level: 1 }).waitFor();
    expect(await field.count()).toBe(0);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('ui/ord');
    await page.getByRole('option', { name: /ui\/order/ }).click();
    await page.getByRole('heading', { name: 'ui/order', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Go to…' }).click();
    await page.keyboard.type(id);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.url()).toContain(`/runs/${id}`);
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Escape');
    await expect.poll(() => field.count()).toBe(0);
    expect(page.url()).toContain(`/runs/${id}`);
  });

  test('a view is saved, kept by the browser, and removed', async () => {
    const { page } = await open(stage, '/runs?q=machine:ui/order');
    const views = page.getByRole('navigation', { name: 'Views' });
    await views.getByRole('button', { name: 'Save this view' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Failed');
    await dialog.getByText('There is one of that name.').waitFor();
    await dialog.getByLabel('Name').fill('<b>Orders</b>');
    await judged('a view is named', page);
    await page.keyboard.press('Enter');
    await page.goto(`${stage.url}/runs`);
    await views.getByRole('link', { name: '<b>Orders</b>' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('machine:ui/order');
    expect(await views.getByRole('button', { name: 'Save this view' }).count()).toBe(0);
    await views.getByRole('button', { name: 'Remove the view <b>Orders</b>' }).click();
    await page.reload();
    await views.getByRole('link', { name: 'All' }).waitFor();
    expect(await views.getByRole('link', { name: '<b>Orders</b>' }).count()).toBe(0);
  });

  test('times are shown as in a zone that is named', async () => {
    const id = await made('ui/order', 'completed', {});
    const { page } = await open(stage, `/runs/${id}`);
    const shown = page.locator('.log-time').nth(1);
    await shown.waitFor();
    await page.getByRole('combobox', { name: 'Times' }).selectOption('utc');
    const utc = await shown.textContent();
    await page.getByRole('combobox', { name: 'Times' }).selectOption('other');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Zone').fill('nowhere/land');
    await dialog.getByText(/No zone of that name/).waitFor();
    await judged('a zone is asked for', page);
    await dialog.getByLabel('Zone').fill('asia/tokyo');
    await page.keyboard.press('Enter');
    await expect.poll(() => shown.textContent()).not.toBe(utc);
    const [hour, minute] = utc!.split(':').map(Number) as [number, number];
    const there = (hour * 60 + minute + 540) % 1_440;
    const [hours, minutes] = [Math.floor(there / 60), there % 60];
    const two = (count: number) => `${count}`.padStart(2, '0');
    expect(await shown.textContent()).toBe(`${two(hours)}:${two(minutes)}${utc!.slice(5)}`);
    await page.reload();
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Times' }).inputValue())
      .toBe('Asia/Tokyo');
  });

  test('two picked rows lie side by side: phases, what differs, where they parted', async () => {
    const good = await made('ui/strict', 'completed', { n: 1 });
    const bad = await made('ui/strict', 'failed', { n: -1 });
    const { page } = await open(stage, '/runs?q=machine:ui/strict');
    for (const id of [good, bad]) await page.locator(`tr:has(a[title="${id}"]) input`).check();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('heading', { name: 'Compare two runs' }).waitFor();
    await page.locator('.compare-phases').getByText('main.work').waitFor();
    const differs = page.locator('.diff');
    await differs.getByText('input.n').waitFor();
    await expect.poll(() => differs.textContent()).toContain('is below zero');
    await page.getByText(/The first .*records? tells? the same/).waitFor();
    await judged('two runs', page);
    await page.getByRole('link', { name: 'Swap' }).click();
    await expect.poll(() => page.getByLabel('One run').inputValue()).not.toBe('');
    await page.getByLabel('Another').fill('01JCQ8ZZZZZZZZZZZZZZZZZZZZ');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('alert').first().waitFor();
    await page.setViewportSize({ width: 390, height: 900 });
    await judged('a run that nobody knows', page);
    await page.goto(`${stage.url}/runs/${good}`);
    await page.getByRole('link', { name: 'Compare…' }).click();
    await expect.poll(() => page.getByLabel('One run').inputValue()).toBe(good);
    await page.getByLabel('Another').fill(good);
    await page.keyboard.press('Enter');
    await page.getByText(/the same in both/).waitFor();
    await page.getByText('Nothing differs.').waitFor();
  });
});

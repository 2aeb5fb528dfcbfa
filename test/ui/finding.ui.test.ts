/** Ways to find and compare: the palette, views of one's own, zones, two runs side by side. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { judge } from './axe.ts';
import { hasBrowser, TEST_MS_MAX, useBrowser } from './browser.ts';
import { made, openStage, type Stage } from './stage.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('finding', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  async function judged(what: string, page: Page): Promise<void> {
    expect(await judge(what, page)).toEqual([]);
  }

  test('the palette opens by keys, also from a field, and leads to pages, machines and runs', async () => {
    const id = await made(stage, 'ui/order', 'completed', {});
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
    const id = await made(stage, 'ui/order', 'completed', {});
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
    const good = await made(stage, 'ui/strict', 'completed', { n: 1 });
    const bad = await made(stage, 'ui/strict', 'failed', { n: -1 });
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

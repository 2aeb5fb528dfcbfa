/** The page of dead letters: by machine and error, one looked into, mended and tried again, many at once. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, tabTo, useBrowser } from './browser.ts';
import { lettersOf, openStage, type Stage, until } from './stage.ts';

const newDir = useTempDirs();
const WAIT = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)('dead letters', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  test('by mouse: narrowed to an error, looked into, its input mended where it was wrong', async () => {
    const { id } = await stage.fleet.enqueueByName('ui/strict', { n: -7 }, { key: 'minus' });
    await until(stage, id, 'failed');
    await lettersOf(stage, 2);
    const { page } = await open(stage, '/');
    await page.getByRole('link', { name: 'Dead letters' }).click();
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count(), WAIT).toBe(3);
    await page.getByRole('button', { name: /-7 is below zero/ }).click();
    await expect.poll(() => rows.count(), WAIT).toBe(1);
    expect(new URL(page.url()).searchParams.get('q')).toMatch(/^error:[0-9a-f]{16}$/);
    await page.getByRole('button', { name: /^Inspect ui\/strict/ }).click();
    const beside = page.getByRole('complementary', { name: 'Dead letter' });
    await beside.locator('.error-message', { hasText: '-7 is below zero' }).waitFor();
    expect(await beside.locator('.json pre').textContent()).toContain('"n": -7');
    // What is shown is in the address.
    expect(new URL(page.url()).searchParams.get('at')).toBe(id);
    await beside.getByRole('button', { name: 'Edit and redrive' }).click();
    const input = page.getByLabel('Its input, as JSON');
    const submit = page.getByRole('dialog').getByRole('button', { name: 'Edit and redrive' });
    await input.fill('{"n": 7');
    await page.getByText('the input is not JSON').waitFor();
    expect(await submit.isDisabled()).toBe(true);
    await input.fill('{"n": 12345678901234567890}');
    await page.locator('.field-wrong', { hasText: 'beyond 2^53 would be rounded' }).waitFor();
    expect(await submit.isDisabled()).toBe(true);
    await input.fill('{"n": "seven"}');
    await page.locator('.field-wrong', { hasText: /expected number/i }).waitFor();
    expect(await input.getAttribute('aria-invalid')).toBe('true');
    expect(await submit.isDisabled()).toBe(true);
    await input.fill('{"n": 7}');
    await page.getByText('What it would do').waitFor();
    await submit.click();
    await until(stage, id, 'completed');
    await page.getByText('No dead letter fits this filter.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await expect.poll(() => rows.count(), WAIT).toBe(2);
  });

  test('by keys: there, along the rows, into one, tried again, and back', async () => {
    const [id = ''] = await lettersOf(stage, 1, { said: 'by keys' });
    const { page } = await open(stage, '/runs?q=machine:nobody');
    await page.getByText('No run fits this filter.').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    await page.locator(`a[title="${id}"]`).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('i');
    await page.locator('.inspect .error-message', { hasText: 'by keys' }).waitFor();
    await page.keyboard.press('r');
    await page.getByText('What it would do').waitFor();
    await tabTo(page, /^Redrive$/);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getByRole('dialog').count(), WAIT).toBe(0);
    const generation = async () => {
      const answer = await fetch(`${stage.url}/api/v1/runs/${id}`);
      return ((await answer.json()) as { generation: number }).generation;
    };
    await expect.poll(generation, WAIT).toBe(2);
    // It is closed with what it was about; a second Escape finds nothing to close.
    await expect.poll(() => page.locator('.inspect').count(), WAIT).toBe(0);
    expect(new URL(page.url()).searchParams.get('at')).toBe(null);
  });

  test('all that match, at so many a second: counted first, and its page follows it', async () => {
    await lettersOf(stage, 3, { said: 'many of these' });
    const { page } = await open(stage, `/dead-letters?q=${encodeURIComponent('"many of these"')}`);
    await page.getByRole('button', { name: 'Redrive all 3…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Bulk operation' });
    await dialog.getByText('3 runs', { exact: true }).waitFor();
    await dialog.getByLabel('Runs a second').fill('0');
    await dialog.getByText('The rate must be a whole number, 1 to 5000.').waitFor();
    await dialog.getByLabel('Runs a second').fill('200');
    await dialog.getByText('3 runs', { exact: true }).waitFor();
    expect(await dialog.locator('.command').textContent()).toContain(
      `fleetq bulk begin redrive 'is:dead-letter "many of these"' --rate 200/s`,
    );
    await dialog.getByRole('button', { name: 'Redrive 3 runs' }).click();
    await expect.poll(() => new URL(page.url()).pathname, WAIT).toMatch(/^\/bulk\/./);
    await page.locator('.state', { hasText: 'Completed' }).waitFor();
    expect(await page.locator('.tally').textContent()).toContain('Done3');
  });

  test('who puts more than a hundred away types how many', async () => {
    await lettersOf(stage, 101, { said: 'put away' });
    const { page } = await open(stage, `/dead-letters?q=${encodeURIComponent('"put away"')}`);
    await page.locator('tbody tr').first().waitFor();
    await expect.poll(() => page.locator('.count').textContent(), WAIT).toBe('101');
    await page.getByRole('checkbox', { name: 'Select all rows' }).check();
    await page.getByText('100 runs selected').waitFor();
    // One by one these are too many for a filter.
    expect(await page.getByRole('button', { name: 'Act on them…' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Select all 101 matching' }).click();
    await page.getByText('All 101 that match').waitFor();
    await page.keyboard.press('b');
    const dialog = page.getByRole('dialog', { name: 'Bulk operation' });
    await dialog.getByLabel('Discard').check();
    const submit = dialog.getByRole('button', { name: 'Discard 101 runs' });
    await submit.waitFor();
    expect(await submit.isDisabled()).toBe(true);
    await dialog.getByLabel('Type 101 to go on').fill('101');
    await dialog.getByLabel('Runs a second').fill('5000');
    await expect.poll(() => submit.isEnabled(), WAIT).toBe(true);
    await submit.click();
    await page.locator('.state', { hasText: 'Completed' }).waitFor();
    expect(await page.locator('.tally').textContent()).toContain('Done101');
    await page.goto(`${stage.url}/dead-letters?q=${encodeURIComponent('"put away"')}`);
    await page.getByText('No dead letter fits this filter.').waitFor();
  });

  test('nothing that failed, and no store, are said in words', async () => {
    const alone = await openStage(newDir(), { hasStore: false });
    try {
      const { page } = await open(alone, '/errors');
      await page.getByText('FLEETQ_NO_STORE').waitFor();
      await page.goto(`${alone.url}/bulk`);
      await page.getByText('FLEETQ_NO_STORE').waitFor();
      await page.goto(`${alone.url}/activity`);
      await page.getByText('Without a store there is no audit log.').waitFor();
    } finally {
      await alone.stop();
    }
    const empty = await openStage(newDir());
    try {
      const { page } = await open(empty, '/dead-letters');
      await page.getByText('Nothing has failed for good.').waitFor();
      await page.goto(`${empty.url}/errors`);
      await page.getByText('Nothing has failed.').waitFor();
      await page.goto(`${empty.url}/bulk`);
      await page.getByText('Nothing was done to many runs at once yet.').waitFor();
      await page.goto(`${empty.url}/activity`);
      await page.getByText('Nobody has changed anything yet.').waitFor();
    } finally {
      await empty.stop();
    }
  });
});

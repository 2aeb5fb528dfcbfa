/** The activity log: who did what, found by who, what and run, page by page. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, useBrowser } from './browser.ts';
import { lettersOf, openStage, post, type Stage, until } from './stage.ts';

const newDir = useTempDirs();
const WAIT = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)('the activity log', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let ids: string[];
  let bulk: string;
  beforeAll(async () => {
    stage = await openStage(newDir());
    ids = await lettersOf(stage, 110);
    await post(stage, `/runs/${ids[0]}/discard`, {});
    const wanted = { what: 'discard', filter: 'is:dead-letter', rate: 5_000 };
    bulk = (await post(stage, '/bulk', wanted)).id;
    await until(stage, bulk, 'completed', 'bulk');
  }, TEST_MS_MAX);
  afterAll(() => stage?.stop());

  test('by mouse: page by page, narrowed by a press, and on to the run and the operation', async () => {
    const { page } = await open(stage, '/');
    await page.getByRole('link', { name: 'Activity' }).click();
    const foot = page.locator('.list-foot');
    await page.locator('tbody tr').first().waitFor();
    // The rest comes as one gets there.
    await page.evaluate("document.querySelector('.table-scroll').scrollTop = 1e6");
    await expect.poll(() => foot.textContent(), WAIT).toBe('111 shown, these are all.');
    await page.evaluate("document.querySelector('.table-scroll').scrollTop = 0");
    await page.locator('.col-via a').first().click();
    await page.getByRole('heading', { name: 'Discard' }).waitFor();
    await page.goto(`${stage.url}/activity?what=bulk`);
    await expect.poll(() => page.locator('tbody tr').count(), WAIT).toBe(1);
    await page.getByRole('button', { name: /^All of bulk by/ }).click();
    await page.getByRole('dialog').locator('pre', { hasText: '"does": "discard"' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'many runs' }).click();
    await expect.poll(() => new URL(page.url()).pathname, WAIT).toBe(`/bulk/${bulk}`);
  });

  test('by keys: filtered by a run, along the rows, and what is not there is said', async () => {
    const { page } = await open(stage, '/runs');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.locator('tbody tr').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('Tab');
    await page.keyboard.type('discard');
    await page.keyboard.press('Tab');
    await page.keyboard.type(ids[0]!);
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('tbody tr').count(), WAIT).toBe(1);
    expect(new URL(page.url()).search).toBe(`?what=discard&run=${ids[0]}`);
    // It was put away once by hand; the operation has left it alone.
    expect(await page.locator('tbody tr').textContent()).toContain('api');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('j');
    await page.keyboard.press('i');
    await page.getByRole('dialog', { name: /^discard by/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${stage.url}/activity?who=nobody-of-that-name`);
    await page.getByText('Nobody did anything like this.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.locator('tbody tr').first().waitFor();
  });
});

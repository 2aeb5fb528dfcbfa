/** Many runs at once, as somebody does it: picked from the list, from an error, followed, stopped. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, passTime, TEST_MS_MAX, tabTo, useBrowser } from './browser.ts';
import { lettersOf, openStage, post, type Stage, until } from './stage.ts';

const newDir = useTempDirs();
const WAIT = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)('many at once', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  test('by keys: rows are picked, what would become of them is told, and they are cancelled', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 3; n++)
      ids.push((await stage.fleet.enqueueByName('ui/retrying', { n })).id);
    for (const id of ids) await until(stage, id, 'waiting');
    const { page } = await open(stage, '/runs?q=machine:ui/retrying');
    await expect.poll(() => page.locator('tbody tr').count(), WAIT).toBe(3);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('2 runs selected').waitFor();
    await page.keyboard.press('b');
    const dialog = page.getByRole('dialog', { name: 'Bulk operation' });
    // What has not ended cannot be tried anew: said before anything is done.
    await dialog.getByText('Of the first 2, 2 would refuse.').waitFor();
    await dialog.getByRole('radio', { name: 'Redrive' }).focus();
    for (let step = 0; step < 5; step++) await page.keyboard.press('ArrowDown');
    expect(await dialog.getByRole('radio', { name: 'Cancel' }).isChecked()).toBe(true);
    await dialog.getByLabel(/^Reason/).fill('not wanted any more');
    await dialog.getByText('2 runs', { exact: true }).waitFor();
    await tabTo(page, /^Cancel 2 runs$/);
    await page.keyboard.press('Enter');
    await page.locator('.state', { hasText: 'Completed' }).waitFor();
    expect(await page.locator('.facts').textContent()).toContain('not wanted any more');
    await until(stage, ids[2]!, 'cancelled');
    await until(stage, ids[1]!, 'cancelled');
    await until(stage, ids[0]!, 'waiting');
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Bulk operations' }).waitFor();
    await page.locator('tbody tr', { hasText: 'Cancel' }).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Cancel' }).waitFor();
  });

  test('an error in the list of errors leads to its runs, and all of them are tried anew', async () => {
    const [id = ''] = await lettersOf(stage, 2, { said: 'the disk is full' });
    const { page } = await open(stage, '/runs');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    const row = page.locator('tbody tr', { hasText: 'the disk is full' });
    await expect.poll(() => row.locator('.col-count').textContent(), WAIT).toBe('2');
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: 'the disk is full' }).waitFor();
    await page.locator('.causes', { hasText: 'because of the disk is full' }).waitFor();
    await page.locator(`.latest a[title="${id}"]`).waitFor();
    await page.getByRole('link', { name: 'All runs that failed this way' }).click();
    await expect.poll(() => page.locator('tbody tr').count(), WAIT).toBe(2);
    await page.goBack();
    await page.getByRole('button', { name: 'Redrive 2 dead letters…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Bulk operation' });
    await dialog.getByRole('button', { name: 'Redrive 2 runs' }).click();
    await page.locator('.state', { hasText: 'Completed' }).waitFor();
    await page.goto(`${stage.url}/errors/0123456789abcdef`);
    await page.getByText('Nothing has failed this way').waitFor();
    await page.goto(`${stage.url}/errors/nothing`);
    await page.getByText('A fingerprint has sixteen hexadecimal digits').waitFor();
  });

  test('it is followed while it goes on; paused, paced, resumed and cancelled', async () => {
    // So many that it is still under way after all of this.
    await lettersOf(stage, 60, { said: 'slowly' });
    const wanted = { what: 'redrive', filter: 'is:dead-letter "slowly"', rate: 2 };
    const { id } = await post(stage, '/bulk', wanted);
    const { page, requests } = await open(stage, `/bulk/${id}`, { hasClock: true });
    const far = page.locator('.bulk-far strong');
    await expect.poll(() => far.textContent(), WAIT).toMatch(/^[1-9]\d* of 60 runs$/);
    const before = await far.textContent();
    await expect.poll(() => far.textContent(), WAIT).not.toBe(before);
    await page.getByRole('button', { name: 'Pause it' }).click();
    await page.locator('.state', { hasText: 'Paused' }).waitFor();
    await page.getByRole('button', { name: 'Change its pace' }).click();
    await page.getByLabel(/^Runs a second/).fill('1');
    await page.getByRole('button', { name: 'Change it', exact: true }).click();
    await page.locator('.facts', { hasText: '1 a second' }).waitFor();
    // By its key it goes on.
    await page.keyboard.press('s');
    await page.locator('.state', { hasText: 'Running' }).waitFor();
    // While nobody wants to be told, nothing is asked.
    await page.keyboard.press('p');
    await page.getByText('Paused', { exact: true }).waitFor();
    await expect.poll(() => stage.streams()).toBe(0);
    await page.waitForLoadState('networkidle');
    const asked = requests.length;
    await passTime(page);
    expect(requests.slice(asked)).toEqual([]);
    await page.keyboard.press('p');
    await page.getByRole('button', { name: 'Cancel it' }).click();
    await page.getByRole('dialog').getByText('cannot be gone on with').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel it' }).click();
    await page.locator('.state', { hasText: 'Cancelled' }).waitFor();
    expect(await page.getByRole('button', { name: 'Resume it' }).count()).toBe(0);
    await page.goto(`${stage.url}/bulk/01ARZ3NDEKTSV4RRFFQ69G5FAV`);
    await page.locator('.refusal').waitFor();
  });

  test('what refused is counted by why, and the first are there word for word', async () => {
    const [done = ''] = await lettersOf(stage, 1, { said: 'refuses' });
    const { id } = await post(stage, '/bulk', { what: 'pause', filter: `id:${done}` });
    const { page } = await open(stage, `/bulk/${id}`);
    await page.locator('.state', { hasText: 'Completed' }).waitFor();
    await page.getByRole('region', { name: 'Refused: 1 run' }).waitFor();
    await page.locator('.refusals').getByRole('link').click();
    await page.getByRole('heading', { name: /ui\/failing/ }).waitFor();
  });
});

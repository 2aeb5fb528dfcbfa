/** The page of runs, as somebody uses it: by mouse, by keys, while things happen. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, passTime, TEST_MS_MAX, useBrowser } from './browser.ts';
import { openStage, type Stage, until } from './stage.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('the page of runs', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let failed: string;
  beforeAll(async () => {
    stage = await openStage(newDir());
    const { fleet } = stage;
    for (let n = 0; n < 8; n++) await fleet.enqueueByName('ui/order', { n }, { key: `order-${n}` });
    failed = (await fleet.enqueueByName('ui/failing', {})).id;
    const waiting = (await fleet.enqueueByName('ui/retrying', {})).id;
    await until(stage, failed, 'failed');
    await until(stage, waiting, 'waiting');
  });
  afterAll(() => stage?.stop());

  test('by mouse: a view filters, a row opens, the way back has the filter', async () => {
    const { page } = await open(stage, '/');
    await page.getByRole('link', { name: 'ui/order' }).first().waitFor();
    await expect.poll(() => page.locator('.count').textContent()).toBe('10');
    await page.getByRole('link', { name: 'Failed', exact: true }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    expect(await page.locator('tbody tr').textContent()).toContain('no such bucket');
    // Where it fell is to be seen in the row, and not by colour alone.
    expect(await page.locator('.strip').getAttribute('aria-label')).toBe('failed, main.work');
    await page.getByRole('link', { name: 'ui/failing' }).click();
    await page.getByRole('heading', { name: /ui\/failing/ }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/runs/${failed}`);
    await page.goBack();
    await page.getByRole('link', { name: 'ui/failing' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('status:failed');
  });

  test('by keys: search with completions, walk the rows, select, open, come back', async () => {
    const { page } = await open(stage, '/');
    await page.getByRole('link', { name: 'ui/order' }).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('mach');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type('ui/ord');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('machine:ui/order');
    await expect.poll(() => page.locator('tbody tr').count()).toBe(8);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 run selected').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /ui\/order/ }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/runs');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });

  test('a filter that says nothing is told with its place, and a link to it shows the same', async () => {
    const { page } = await open(stage, '/runs?q=stauts:failed');
    await page
      .getByText(/there is no field "stauts"/)
      .first()
      .waitFor();
    await page
      .getByText(/did you mean status/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByRole('link', { name: 'ui/order' }).first().waitFor();
  });

  test('a press in the histogram becomes a filter, and can be taken back', async () => {
    const { page } = await open(stage, '/runs?w=5m');
    const slider = page.getByRole('slider', { name: 'Runs over time' });
    await slider.focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/runs?/);
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toMatch(/^created:.*Z$/);
    await page.getByRole('button', { name: 'All times' }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe(null);
    const box = (await slider.boundingBox())!;
    await page.mouse.move(box.x + 5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 5, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toMatch(/^created:.*\.\./);
    await page.getByRole('link', { name: 'ui/order' }).first().waitFor();
  });

  test('what happens appears by itself, under the filter that is set', async () => {
    const { page } = await open(stage, '/runs?q=machine:ui/failing');
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    const { id } = await stage.fleet.enqueueByName('ui/failing', { said: 'again' });
    await stage.fleet.enqueueByName('ui/order', { n: 99 });
    await expect.poll(() => page.locator('tbody tr').count(), { timeout: PATIENCE_MS }).toBe(2);
    await expect
      .poll(() => page.locator(`a[title="${id}"]`).locator('xpath=ancestor::tr').textContent(), {
        timeout: PATIENCE_MS,
      })
      .toContain('again');
  });

  test('paused is paused: whatever happens, nothing is asked, and then everything is there', async () => {
    const { page, requests } = await open(stage, '/runs?q=machine:ui/order', { hasClock: true });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await expect.poll(() => stage.streams()).toBe(0);
    // What was under way may end.
    await page.waitForLoadState('networkidle');
    const [asked, shown] = [requests.length, await page.locator('tbody tr').count()];
    const { id } = await stage.fleet.enqueueByName('ui/order', { n: 100 });
    await until(stage, id, 'completed');
    await page.evaluate(`dispatchEvent(new Event('focus'));
      document.dispatchEvent(new Event('visibilitychange'))`);
    await passTime(page);
    expect(requests.slice(asked)).toEqual([]);
    expect(await page.locator('tbody tr').count()).toBe(shown);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.locator(`a[title="${id}"]`).waitFor();
  });

  test('nothing that fits, and nothing at all, are said in words', async () => {
    const { page } = await open(stage, '/runs?q=machine:nobody');
    await page.getByText('No run fits this filter.').waitFor();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'ui/order' }).first().waitFor();
    const alone = await openStage(newDir(), { hasStore: false });
    try {
      const { page: empty } = await open(alone, '/');
      await empty.getByText('There are no runs yet.').waitFor();
    } finally {
      await alone.stop();
    }
  });
});

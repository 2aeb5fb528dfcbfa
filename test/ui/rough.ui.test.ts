/** When things are not as they should be: many tabs, a slow server, pages that were replaced, no line. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { judge } from './axe.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, useBrowser } from './browser.ts';
import { lettersOf, made, openStage, type Stage, until } from './stage.ts';

const newDir = useTempDirs();
/** Called in the browser, which these files know nothing of. */
declare function getComputedStyle(
  of: unknown,
): Readonly<Record<'backgroundColor' | 'outlineStyle' | 'color', string>>;
const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor();

/** As a browser does with a tab behind another; the one that drives ours shows all of them at once. */
function see(page: Page, state: 'hidden' | 'visible'): Promise<unknown> {
  return page.evaluate(`Object.defineProperty(document, 'visibilityState',
    { value: '${state}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);
}

describe.skipIf(!hasBrowser)('when it is rough', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  test('nine tabs: those that nobody sees hold no line, and hear all of it when somebody does', async () => {
    const { page: first } = await open(stage, '/runs?q=machine:ui/order');
    await live(first);
    await see(first, 'hidden');
    const id = await made(stage, 'ui/order', 'completed');
    for (let tab = 2; tab < 9; tab++) {
      const next = await first.context().newPage();
      await next.goto(`${stage.url}/runs`);
      await live(next);
      await see(next, 'hidden');
    }
    expect(await first.locator(`a[title="${id}"]`).count()).toBe(0);
    await see(first, 'visible');
    await live(first);
    await first.locator(`a[title="${id}"]`).waitFor();
  });

  test('from a run back to the list as it was, by Escape and by the link', async () => {
    await lettersOf(stage, 1);
    const { page } = await open(stage, '/runs?q=status:failed&w=6h');
    const there = () => expect.poll(() => new URL(page.url()).search).toBe('?q=status:failed&w=6h');
    await page.getByRole('link', { name: 'ui/failing' }).first().click();
    await page.getByRole('heading', { name: /ui\/failing/ }).waitFor();
    await page.keyboard.press('Escape');
    await there();
    await page.getByRole('link', { name: 'ui/failing' }).first().click();
    await page.getByRole('link', { name: 'Back to the runs' }).click();
    await there();
  });

  test('a page that the server no longer has is loaded anew by a press', async () => {
    const { page, complaints } = await open(stage, '/runs');
    await live(page);
    await page.route(/assets\/pods-page/, (route) => route.fulfill({ status: 404, body: '' }));
    await page.getByRole('link', { name: 'Pods' }).click();
    await page.getByText(/newer pages than this tab/).waitFor();
    // The rest of it stays where it is.
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.unroute(/assets\/pods-page/);
    await page.getByRole('button', { name: 'Load the page anew' }).click();
    await page.getByRole('heading', { name: 'Pods' }).waitFor();
    await live(page);
    // That a file did not come it was right to say.
    complaints.length = 0;
  });

  test('what is said of another wish is no leave to act: the button waits for the answer', async () => {
    const id = await made(stage, 'ui/order', 'completed');
    const { page } = await open(stage, `/runs/${id}`);
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const act = dialog.getByRole('button', { name: 'Fork' });
    await expect.poll(() => act.isEnabled()).toBe(true);
    let answer = () => undefined as unknown;
    const held = new Promise<void>((resolve) => {
      answer = () => resolve();
    });
    await page.route(/\/fork$/, (route) => held.then(() => route.continue()));
    await dialog.getByRole('combobox').selectOption('main.validate');
    await expect.poll(() => act.isEnabled()).toBe(false);
    answer();
    await expect.poll(() => act.isEnabled()).toBe(true);
    await dialog.getByText('A new run begins at main.validate').waitFor();
  });

  test('what is typed stays while the run goes on behind the dialog', async () => {
    const id = await made(stage, 'ui/retrying', 'waiting');
    const { page } = await open(stage, `/runs/${id}`);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const reason = page.getByRole('dialog').getByRole('textbox');
    await reason.fill('asked tw');
    const before = await page.locator('.log tbody tr').count();
    const headers = { 'content-type': 'application/json' };
    const asked = { method: 'POST', headers, body: '{}' };
    expect((await fetch(`${stage.url}/api/v1/runs/${id}/retry`, asked)).status).toBe(200);
    await expect
      .poll(() => page.locator('.log tbody tr').count(), { timeout: PATIENCE_MS })
      .toBeGreaterThan(before);
    await page.keyboard.type('ice');
    expect(await reason.inputValue()).toBe('asked twice');
    await expect
      .poll(() => page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).isEnabled())
      .toBe(true);
    await page.keyboard.press('Enter');
    await until(stage, id, 'cancelled');
  });

  test('no digit of a number is lost: what would be rounded is refused, what is told is shown', async () => {
    const headers = { 'content-type': 'application/json' };
    const body = '{"machine":"ui/order","input":{"id":12345678901234567890}}';
    const answer = await fetch(`${stage.url}/api/v1/runs`, { method: 'POST', headers, body });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('12345678901234567890 is beyond 2^53');
    // One that another program has put into the store.
    const id = await made(stage, 'ui/order', 'completed', { id: 'exact' });
    const { page } = await open(stage, '/runs');
    await page.route(new RegExp(`/api/v1/runs/${id}(/context.*)?$`), async (route) => {
      const told = await (await route.fetch()).text();
      const text = told.replaceAll('"exact"', '12345678901234567890');
      await route.fulfill({ contentType: 'application/json', body: text });
    });
    await page.goto(`${stage.url}/runs/${id}`);
    for (const name of ['Context', 'Output']) {
      const panel = page.getByRole('region', { name, exact: true });
      await expect
        .poll(() => panel.locator('pre').textContent())
        .toContain('"id": 12345678901234567890');
    }
  });

  test('what is not there is said below a heading, and axe has nothing to add', async () => {
    const { page } = await open(stage, '/nowhere');
    for (const path of [
      'bulk/none',
      'errors/none',
      'throttles/none',
      'runs/01ARZ3NDEKTSV4RRFFQ69G5FAV',
    ]) {
      await page.goto(`${stage.url}/${path}`);
      await page.locator('.refusal').waitFor();
      expect(await judge(path, page)).toEqual([]);
    }
  });

  test('where the system chooses the colours, what they say is said all the same', async () => {
    const [id = ''] = await lettersOf(stage, 1);
    const { page } = await open(stage, '/runs', { forcedColors: 'active' });
    const row = page.locator('tr', { has: page.locator(`a[title="${id}"]`) });
    await row.waitFor();
    const grounds = await row
      .locator('.strip > *')
      .evaluateAll((all) => all.map((each) => getComputedStyle(each).backgroundColor));
    expect(new Set(grounds).size).toBeGreaterThan(1);
    const outlined = (selector: string) =>
      page.locator(selector).evaluate((each) => getComputedStyle(each).outlineStyle);
    expect(await outlined('.rail li [aria-current]')).toBe('solid');
    await page.goto(`${stage.url}/runs/${id}`);
    await page.locator('.log tr[data-current]').waitFor();
    expect(await outlined('.log tr[data-current]')).toBe('solid');
    const off = page.locator('.actions [aria-disabled="true"]').first();
    const on = page.locator('.actions [aria-disabled="false"]').first();
    const colour = (button: typeof on) => button.evaluate((each) => getComputedStyle(each).color);
    expect(await colour(off)).not.toBe(await colour(on));
  });

  test('without a line it says so, keeps what it has, and goes on by itself', async () => {
    const id = await made(stage, 'ui/order', 'completed');
    const { page, complaints } = await open(stage, '/runs?q=machine:ui/order');
    await live(page);
    await page.locator(`a[title="${id}"]`).waitFor();
    await page.route(/\/api\/v1\//, (route) => route.abort());
    // Whoever looks away and back has to be told anew.
    await see(page, 'hidden');
    await see(page, 'visible');
    await page.getByText('Reconnecting…').waitFor();
    const { id: later } = await stage.fleet.enqueueByName('ui/order', {});
    expect(await page.locator(`a[title="${id}"]`).count()).toBe(1);
    await page.unroute(/\/api\/v1\//);
    await live(page);
    await page.locator(`a[title="${later}"]`).waitFor();
    complaints.length = 0;
  });
});

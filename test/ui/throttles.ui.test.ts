/** APIs that the fleet calls, as somebody looks at them and fixes their limits: by mouse and by keys. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, useBrowser } from './browser.ts';
import { openStage, post, type Stage } from './stage.ts';

const newDir = useTempDirs();
const patiently = { timeout: PATIENCE_MS };
const API = 'llm/eu';

describe.skipIf(!hasBrowser)('throttles in pages', { timeout: TEST_MS_MAX }, () => {
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
    await page.getByText(`${API} has its own limit again`).waitFor();
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

/** Queues as somebody looks at them, limits them and lets them stand still: by mouse and by keys. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, useBrowser } from './browser.ts';
import { openStage, post, type Stage, until } from './stage.ts';

const newDir = useTempDirs();
const patiently = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)('queues in pages', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let locked: Stage;
  const inStore = async (name: string) =>
    (await stage.fleet.store.queues()).find(({ queue }) => queue === name);
  beforeAll(async () => {
    stage = await openStage(newDir());
    const held = await stage.fleet.enqueueByName('ui/gated', {}, { queue: 'reports' });
    await until(stage, held.id, 'claimed');
    locked = await openStage(newDir(), { grants: [['ruth', 'read', false]] });
    await locked.fleet.enqueueByName('ui/gated', {}, { queue: 'reports' });
  });
  afterAll(async () => {
    await stage?.stop();
    await locked?.stop();
  });

  test('by mouse: how full it is, a limit that says first what it does, a pause, a machine', async () => {
    const { page } = await open(stage, '/queues');
    const row = page.locator('tr', { hasText: 'reports' });
    await row.getByRole('button', { name: 'Limit reports' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/Claimed at once/).fill('none');
    await dialog.getByText('A limit is a whole number').waitFor();
    expect(await dialog.getByRole('button', { name: 'Set the limit' }).isDisabled()).toBe(true);
    await dialog.getByLabel(/Claimed at once/).fill('1');
    await dialog.getByText('At most 1 task of it is claimed at once').waitFor();
    await dialog.getByText('fleetq queues limit reports 1').waitFor();
    expect((await inStore('reports'))?.limit).toBeUndefined();
    await dialog.getByRole('button', { name: 'Set the limit' }).click();
    await page.getByText('reports has another limit').waitFor();
    await row.getByTitle('1 of at most 1 are claimed').waitFor();
    await stage.fleet.enqueueByName('ui/gated', {}, { queue: 'reports' });
    // As it happens: nobody asks for it.
    await row.getByText('Full').waitFor();
    await row.getByRole('button', { name: 'Pause reports' }).click();
    await dialog.getByText('1 task pending: kept.').waitFor();
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await row.getByText('Paused by').waitFor();
    expect(await inStore('reports')).toMatchObject({ isPaused: true, limit: 1, pending: 1 });
    await page.getByRole('button', { name: 'Pause a machine' }).click();
    await dialog.getByText('Say which one.').waitFor();
    await dialog.getByLabel('Name of the machine').fill('ui/order');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    const paused = page.getByRole('region', { name: 'Paused machines' });
    await paused.getByRole('button', { name: 'Resume ui/order' }).click();
    await dialog.getByRole('button', { name: 'Resume', exact: true }).click();
    await paused.getByText('No machine is paused.').waitFor();
    await row.getByRole('link', { name: 'reports' }).click();
    await page.getByRole('link', { name: 'ui/gated' }).first().waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('queue:"reports" is:unfinished');
  });

  test('by keys: there, along the rows, a limit, a pause, and on again', async () => {
    for (let n = 0; n < 10; n++) {
      await post(stage, '/queues', { what: 'queue.limit', name: `a${n}`, limit: 3 });
    }
    const { page } = await open(stage, '/');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await page.locator('a[data-row]').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('A7');
    await expect.poll(() => page.locator('a[data-row]').count(), patiently).toBe(1);
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('j');
    await page.keyboard.press('f');
    await page
      .getByRole('dialog')
      .getByLabel(/Claimed at once/)
      .waitFor();
    await page
      .getByRole('dialog')
      .getByLabel(/Claimed at once/)
      .fill('4');
    await page.keyboard.press('Enter');
    await page.getByText('a7 has another limit').waitFor();
    expect((await inStore('a7'))?.limit).toBe(4);
    for (const [said, isPaused] of [
      ['a7 is paused', true],
      ['a7 goes on', false],
    ] as const) {
      await expect.poll(() => page.getByRole('dialog').count(), patiently).toBe(0);
      await page.evaluate('document.activeElement.blur()');
      await page.keyboard.press('j');
      await page.keyboard.press('s');
      await page.getByRole('dialog').getByText('What it would do').waitFor();
      await page.getByRole('dialog').locator('button[type=submit]').press('Enter');
      await page.getByText(said).waitFor();
      expect((await inStore('a7'))?.isPaused).toBe(isPaused);
      await page.getByRole('button', { name: isPaused ? 'Resume a7' : 'Pause a7' }).waitFor();
    }
    await page.goto(`${stage.url}/queues?find=nobody`);
    await page.getByText('No queue is called so.').waitFor();
  });

  test('who may only look is offered nothing to change', async () => {
    const { page } = await open(locked, '/queues', { viewport: { width: 390, height: 800 } });
    await page.getByLabel('Token').fill(locked.secrets['ruth']!);
    await page.keyboard.press('Enter');
    await page.locator('a[data-row]').first().waitFor();
    await page.evaluate('document.activeElement.blur()');
    for (const key of ['j', 'f', 's']) await page.keyboard.press(key);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /Limit|Pause a|Resume/ })
        .count(),
    ).toBe(0);
  });
});

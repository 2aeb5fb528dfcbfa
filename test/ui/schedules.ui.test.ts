/** What runs again and again, as somebody looks at it and lets it stand still: by mouse and by keys. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Schedule } from '../../admin-ui/src/services/fleet-types.ts';
import { prompt } from '../store/sqlite-harness.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, useBrowser } from './browser.ts';
import { openStage, post, type Stage } from './stage.ts';

const newDir = useTempDirs();
const patiently = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)('schedules in pages', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let locked: Stage;
  const wanted = { machine: 'ui/order', cron: '0 2 * * *', zone: 'Europe/Berlin', input: { n: 7 } };
  const statusOf = async (name: string) => {
    const answer = await fetch(`${stage.url}/api/v1/schedules/${name}`);
    return ((await answer.json()) as Schedule).status;
  };
  beforeAll(async () => {
    const dataDir = newDir();
    stage = await openStage(dataDir);
    await post(stage, '/schedules/nightly', wanted);
    await post(stage, '/schedules/orphan', { ...wanted, machine: 'ui/nobody' });
    // As if it had been due a moment ago: nobody waits for two in the morning.
    prompt(join(dataDir, 'fleet.db'), (database) => {
      const due = `update schedule set next_at = next_at - 86400000 where name = 'nightly'`;
      expect(database.prepare(due).run().changes).toBe(1);
    });
    locked = await openStage(newDir(), {
      grants: [
        ['ruth', 'read', false],
        ['olga', 'operate', false],
      ],
    });
    const as = { authorization: `Bearer ${locked.secrets['olga']}` };
    await post(locked, '/schedules/nightly', wanted, as);
  });
  afterAll(async () => {
    await stage?.stop();
    await locked?.stop();
  });

  test('by mouse: its ticks, its runs, and a pause that says first what it does', async () => {
    const { page } = await open(stage, '/schedules');
    const row = page.locator('tr', { hasText: 'nightly' });
    await expect.poll(() => row.locator('.next-ticks time').count(), patiently).toBe(3);
    await page.locator('tr', { hasText: 'orphan' }).getByText('No pod').waitFor();
    // It has run: the list tells so as it happens.
    await row.getByRole('link', { name: /ago|now/ }).waitFor();
    await row.getByRole('link', { name: 'nightly' }).click();
    await page.getByRole('heading', { level: 1, name: 'nightly' }).waitFor();
    const ticks = page.getByRole('region', { name: 'Next ticks' });
    expect(await ticks.locator('li').count()).toBe(10);
    expect(await ticks.locator('li').first().textContent()).toContain(', 02:00 in Europe/Berlin');
    const last = page.locator('dd', { has: page.getByRole('link', { name: /ago|now/ }) });
    const before = await last.getByRole('link').first().getAttribute('href');
    await page.getByRole('button', { name: 'Run it now' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Its ticks stay as they are.').waitFor();
    await dialog.getByLabel('Reason').fill('the import was late');
    await dialog.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('nightly has a run').waitFor();
    await expect
      .poll(() => last.getByRole('link').first().getAttribute('href'), patiently)
      .not.toBe(before);
    const answer = await fetch(`${stage.url}/api/v1/audit?what=schedule.run`);
    expect(await answer.text()).toContain('the import was late');
    await page.getByRole('button', { name: 'Pause it' }).click();
    await dialog.getByText('No tick is put in any more').waitFor();
    await dialog.getByText('fleetq schedules pause nightly').waitFor();
    expect(await statusOf('nightly')).toBe('active');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('nightly is paused').waitFor();
    expect(await statusOf('nightly')).toBe('paused');
    await ticks.getByText('None is to come.').waitFor();
    await page.getByRole('link', { name: 'of 1 tick, and asked for' }).click();
    const runs = page.getByRole('link', { name: 'ui/order' });
    await expect.poll(() => runs.count(), patiently).toBe(2);
    expect(new URL(page.url()).searchParams.get('q')).toBe('key:"schedule/nightly/*"');
    await post(stage, '/schedules/nightly/resume', {});
  });

  test('by keys: there, into one, paused and resumed, and back', async () => {
    await post(stage, '/schedules/aaa', wanted);
    const { page } = await open(stage, '/');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    await page.getByRole('link', { name: 'aaa' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'aaa' }).waitFor();
    for (const [said, button, status] of [
      ['aaa is paused', 'Resume it', 'paused'],
      ['aaa goes on', 'Pause it', 'active'],
    ] as const) {
      await page.keyboard.press('s');
      await page.getByRole('dialog').getByRole('heading', { name: 'What it would do' }).waitFor();
      await page.getByRole('dialog').locator('button[type=submit]').press('Enter');
      await page.getByText(said).waitFor();
      await page.getByRole('button', { name: button }).waitFor();
      expect(await statusOf('aaa')).toBe(status);
      await expect.poll(() => page.getByRole('dialog').count(), patiently).toBe(0);
    }
    await page.getByRole('button', { name: 'Remove it' }).press('Enter');
    await page.getByRole('dialog').getByText('does not bring it back').waitFor();
    await page.getByRole('dialog').locator('button[type=submit]').press('Enter');
    await page.getByText('Removed', { exact: true }).waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).pathname, patiently).toBe('/schedules');
    await page.goto(`${stage.url}/schedules/nobody`);
    await page.getByText('FLEETQ_SCHEDULE_NOT_FOUND').waitFor();
  });

  test('who may only look is offered nothing to change', async () => {
    const { page } = await open(locked, '/schedules/nightly');
    await page.getByLabel('Token').fill(locked.secrets['ruth']!);
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Next ticks' }).locator('li').first().waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('s');
    expect(await page.getByRole('dialog').count()).toBe(0);
    const main = page.getByRole('main');
    expect(await main.getByRole('button', { name: /(Pause|Resume|Remove) it/ }).count()).toBe(0);
    expect(await main.textContent()).not.toContain('"n": 7');
  });
});

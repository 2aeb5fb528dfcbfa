/** Sixty hostile names of pods, machines, throttles, queues and schedules: none is run. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prompt } from '../store/sqlite-harness.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, TEST_MS_MAX, useBrowser } from './browser.ts';
import { haunt } from './ghosts.ts';
import { openStage, post, type Stage } from './stage.ts';
import { XSS } from './xss-strings.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('names stay names', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let hostile: Stage;
  let worst = '';
  beforeAll(async () => {
    const dataDir = newDir();
    hostile = await openStage(dataDir);
    for (const name of XSS) await post(hostile, '/queues', { what: 'queue.limit', name, limit: 1 });
    for (const name of XSS) await post(hostile, '/queues', { what: 'machine.pause', name });
    for (const [at, text] of XSS.entries()) {
      const said = { machine: text, queue: text, cron: '@daily', input: { text } };
      await post(hostile, `/schedules/s${at}`, said);
    }
    // No program of ours takes such a name; whoever writes into the table by hand may.
    prompt(join(dataDir, 'fleet.db'), (database) => {
      const rename = database.prepare('update schedule set name = ?, trouble = ? where name = ?');
      for (const [at, text] of XSS.entries()) rename.run(`${at} ${text}`, text, `s${at}`);
    });
    const routes = XSS.map((text, index) => `${text}@${index + 1}`);
    const isRefused = (name: string) => /\p{Cc}/u.test(name);
    for (const name of XSS) if (!isRefused(name)) await hostile.fleet.throttle(name).use(() => 1);
    prompt(join(dataDir, 'fleet.db'), (database) => {
      const insert = database.prepare('insert into throttle_state (api, made_at) values (?, ?)');
      for (const name of XSS.filter(isRefused)) insert.run(name, Date.now());
    });
    for (const name of XSS) worst = await haunt(hostile.fleet, { name, routes, version: name });
  });
  afterAll(() => hostile?.stop());

  for (const bypassCSP of [false, true]) {
    test(`no name is run, ${bypassCSP ? 'without' : 'with'} the policy`, async () => {
      const { page } = await open(hostile, '/pods', { bypassCSP });
      const isHit = () => page.evaluate('window.hit');
      await expect
        .poll(() => page.locator('a[data-row]').count(), { timeout: 90_000 })
        .toBe(XSS.length + 1);
      expect(await isHit()).toBe(undefined);
      await page.goto(`${hostile.url}/pods/${worst}`);
      await page.getByRole('region', { name: 'Machines' }).waitFor();
      expect(await page.getByRole('region', { name: 'Machines' }).textContent()).toContain(XSS[0]);
      await page.getByRole('button', { name: 'Drain' }).click();
      await page.getByRole('dialog').getByText('What it would do').waitFor();
      expect(await isHit()).toBe(undefined);
      await page.goto(`${hostile.url}/machines`);
      await page.locator('a[data-row]', { hasText: '<' }).first().waitFor();
      expect(await isHit()).toBe(undefined);
      await page.locator('a[data-row]', { hasText: '<' }).first().click();
      await page.getByRole('region', { name: 'Versions in flight' }).waitFor();
      await page.goto(`${hostile.url}/throttles`);
      await expect
        .poll(() => page.locator('a[data-row]').count(), { timeout: 90_000 })
        .toBe(XSS.length);
      await page.locator('a[data-row]', { hasText: '<svg' }).first().click();
      await page.getByRole('button', { name: 'Fix the limit' }).click();
      await page.getByRole('dialog').getByText('What it would do').waitFor();
      expect(await isHit()).toBe(undefined);
      await page.goto(`${hostile.url}/queues`);
      const flows = page.getByRole('region', { name: 'Paused machines' });
      await expect
        .poll(() => page.locator('a[data-row]').count(), { timeout: 90_000 })
        .toBe(XSS.length);
      expect(await flows.locator('tbody tr').count()).toBe(XSS.length);
      await page.getByRole('button', { name: 'Limit <svg' }).first().click();
      await page.getByRole('dialog').getByText('What it would do').waitFor();
      expect(await page.locator('main img, dialog img, main script').count()).toBe(0);
      expect(await isHit()).toBe(undefined);
      await page.goto(`${hostile.url}/schedules`);
      await expect
        .poll(() => page.locator('a[data-row]').count(), { timeout: 90_000 })
        .toBe(XSS.length);
      expect(await isHit()).toBe(undefined);
      await page.locator('a[data-row]', { hasText: '<svg' }).first().click();
      await page.locator('.notice', { hasText: '<svg' }).waitFor();
      await page.getByRole('button', { name: 'Pause it' }).click();
      await page.getByRole('dialog').getByText('is no name for a schedule').waitFor();
      expect(await page.locator('main img, dialog img, main script').count()).toBe(0);
      expect(await isHit()).toBe(undefined);
      await page.goto(`${hostile.url}/overview`);
      await page.getByText(/Pods run FleetQ/).waitFor();
      expect(await page.locator('main img, main iframe, main script, main object').count()).toBe(0);
      expect(await isHit()).toBe(undefined);
    });
  }
});

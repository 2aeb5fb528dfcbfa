/** Sixty ways to make a page run what it shows: none of them does, with its policy and without. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prompt } from '../store/sqlite-harness.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, TEST_MS_MAX, textOfAllRows, useBrowser } from './browser.ts';
import { openStage, post, type Stage, until } from './stage.ts';
import { XSS } from './xss-strings.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('text stays text', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let worst: string;
  let bulk: string;
  beforeAll(async () => {
    const dataDir = newDir();
    stage = await openStage(dataDir);
    const ids: string[] = [];
    for (const said of XSS) {
      const { id } = await stage.fleet.enqueueByName('ui/failing', { said }, { key: said });
      ids.push(id);
    }
    const said = XSS.join('\n');
    const fields = Object.fromEntries(XSS.map((text) => [text, text]));
    worst = (await stage.fleet.enqueueByName('ui/failing', { said, fields })).id;
    for (const id of [...ids, worst]) await until(stage, id, 'failed');
    // No program of ours takes such a name; whoever writes into the table by hand may.
    prompt(join(dataDir, 'fleet.db'), (database) => {
      const rename = database.prepare('UPDATE step_tracker SET machine = ? WHERE task_id = ?');
      for (const [at, id] of ids.entries()) expect(rename.run(XSS[at], id).changes).toBe(1);
    });
    const reason = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const waiting = (await stage.fleet.enqueueByName('ui/retrying', { fields })).id;
    await until(stage, waiting, 'waiting');
    const body = JSON.stringify({ reason: said.slice(0, 1_000) });
    await fetch(`${stage.url}/api/v1/runs/${waiting}/cancel`, { ...reason, body });
    const hostile = { what: 'cancel', filter: `${JSON.stringify(XSS[0])} -machine:x` };
    bulk = (await post(stage, '/bulk', { ...hostile, reason: said.slice(0, 1_000) })).id;
    await until(stage, bulk, 'completed', 'bulk');
  });
  afterAll(() => stage?.stop());

  test('there are sixty of them, all different', () => {
    expect(new Set(XSS).size).toBe(60);
  });

  for (const bypassCSP of [false, true]) {
    test(`nothing is run, ${bypassCSP ? 'without' : 'with'} the policy`, async () => {
      const { page } = await open(stage, '/', { bypassCSP });
      const isHit = () => page.evaluate('window.hit');
      await page.getByRole('link', { name: 'ui/failing' }).first().waitFor();
      // Down to the oldest row, so that each has been on the page.
      expect(await textOfAllRows(page)).toContain(XSS[0]);
      expect(await isHit()).toBe(undefined);
      const query = encodeURIComponent(`"${XSS[0]!.replaceAll('"', '')}"`);
      await page.goto(`${stage.url}/runs?q=${query}`);
      await page.locator('.count').waitFor();
      expect(await isHit()).toBe(undefined);
      await page.goto(`${stage.url}/runs/${worst}`);
      await page.locator('.explain-first').waitFor();
      await page.getByText('Stack', { exact: true }).click();
      for (const tab of ['Change', 'Event', 'Context']) {
        await page.getByRole('button', { name: tab, exact: true }).click();
        await page.locator('.json pre, .diff').first().waitFor();
      }
      expect(await page.locator('.error-message').textContent()).toContain(XSS[0]);
      expect(await page.locator('main img, main iframe, main script, main object').count()).toBe(0);
      expect(await isHit()).toBe(undefined);
      await page.goto(`${stage.url}/runs?q=status:cancelled`);
      await page.getByRole('link', { name: 'ui/retrying' }).click();
      await page.locator('.explain-first').waitFor();
      expect(await isHit()).toBe(undefined);
    });

    test(`nothing is run on the pages of many, ${bypassCSP ? 'without' : 'with'} the policy`, async () => {
      const { page } = await open(stage, `/dead-letters?at=${worst}`, { bypassCSP });
      const judge = async () => {
        const wild = 'main img, main iframe, main script, main object, dialog img, dialog script';
        expect(await page.locator(wild).count()).toBe(0);
        expect(await page.evaluate('window.hit')).toBe(undefined);
      };
      await page.locator('.inspect .error-message', { hasText: XSS[0]! }).waitFor();
      await page.locator('.facet button').first().waitFor();
      expect(await textOfAllRows(page)).toContain(XSS[0]);
      await judge();
      await page.getByRole('button', { name: 'Edit and redrive' }).click();
      await page.getByRole('dialog').getByText('What it would do').waitFor();
      await judge();
      await page.goto(`${stage.url}/errors`);
      await page.locator('tbody tr').first().waitFor();
      expect(await textOfAllRows(page)).toContain(XSS[0]);
      await judge();
      const { groups } = (await (await fetch(`${stage.url}/api/v1/errors`)).json()) as {
        groups: { fingerprint: string; example: string }[];
      };
      const group = groups.find(({ example }) => example === worst)!;
      await page.goto(`${stage.url}/errors/${group.fingerprint}`);
      await page.locator('.error-panel').waitFor();
      await judge();
      await page.goto(`${stage.url}/bulk`);
      await page.locator('tbody tr').first().waitFor();
      await judge();
      await page.goto(`${stage.url}/bulk/${bulk}`);
      await page.locator('.facts', { hasText: XSS[0]! }).waitFor();
      await judge();
      await page.goto(`${stage.url}/activity?who=${encodeURIComponent(XSS[1]!)}`);
      await page.getByText('Nobody did anything like this.').waitFor();
      await judge();
      await page.goto(`${stage.url}/activity?what=cancel`);
      await page
        .getByRole('button', { name: /^All of cancel/ })
        .first()
        .click();
      await page.getByRole('dialog').locator('pre', { hasText: XSS[0]! }).waitFor();
      await judge();
    });
  }
});

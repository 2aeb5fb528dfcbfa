/** For everybody: axe finds nothing, in both themes, at three widths, and nothing sticks out. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judge as judged } from './axe.ts';
import {
  openStage,
  program,
  type Stage,
  TEST_MS_MAX,
  until,
  useBrowser,
  useTempDirs,
} from './stage.ts';

const newDir = useTempDirs();
describe.skipIf(program === undefined)('axe', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let locked: Stage;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    stage = await openStage(newDir());
    locked = await openStage(newDir(), { grants: [['ada', 'admin', true]] });
    for (const [machine, status] of [
      ['ui/order', 'completed'],
      ['ui/failing', 'failed'],
      ['ui/retrying', 'waiting'],
      ['ui/gated', 'claimed'],
    ] as const) {
      const { id } = await stage.fleet.enqueueByName(
        machine,
        { n: 1 },
        { key: `key of ${machine}` },
      );
      await until(stage, id, status);
      ids[machine] = id;
    }
  });
  afterAll(async () => {
    await stage?.stop();
    await locked?.stop();
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1440, 1024, 390]) {
      test(`nothing to complain of: ${colorScheme}, ${width} px`, async () => {
        const options = { colorScheme, viewport: { width, height: 900 } };
        const { page } = await open(stage, '/', options);
        const said: string[] = [];
        const judge = async (what: string, page: Page) => {
          said.push(...(await judged(what, page)));
        };
        await page.getByRole('link', { name: 'ui/order' }).first().waitFor();
        await judge('runs', page);
        await page.getByRole('combobox', { name: 'Filter runs' }).focus();
        await page.locator('.offers [role=option]').first().waitFor();
        await judge('completions', page);
        await page.goto(`${stage.url}/runs?q=status:nothing`);
        await page
          .getByText(/status must be one of/)
          .first()
          .waitFor();
        await judge('a wrong filter', page);
        for (const machine of ['ui/failing', 'ui/gated']) {
          await page.goto(`${stage.url}/runs/${ids[machine]}`);
          await page.locator('.explain-first').waitFor();
          await page.locator('.json pre').first().waitFor();
          await judge(machine, page);
        }
        await page.getByRole('button', { name: 'Cancel' }).click();
        await page.getByRole('dialog').getByText('What it would do').waitFor();
        await judge('an act', page);
        const { page: outside } = await open(locked, '/', options);
        await outside.getByLabel('Token').waitFor();
        await judge('login', outside);
        expect(said).toEqual([]);
      });
    }
  }
});

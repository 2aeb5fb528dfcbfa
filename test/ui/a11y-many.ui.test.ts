/** The pages of many runs, for everybody: axe finds nothing, in both themes, at three widths. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { judge } from './axe.ts';
import {
  lettersOf,
  openStage,
  post,
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
  let letter: string;
  let bulk: string;
  let fingerprint: string;
  beforeAll(async () => {
    stage = await openStage(newDir());
    [letter = ''] = await lettersOf(stage, 3);
    await post(stage, `/runs/${letter}/redrive`, { dryRun: false });
    await until(stage, letter, 'failed');
    bulk = (await post(stage, '/bulk', { what: 'pause', filter: 'machine:ui/failing' })).id;
    await until(stage, bulk, 'completed', 'bulk');
    const answer = await fetch(`${stage.url}/api/v1/errors`);
    const { groups } = (await answer.json()) as { groups: { fingerprint: string }[] };
    fingerprint = groups[0]!.fingerprint;
  });
  afterAll(() => stage?.stop());

  /** Each is loaded once, and then seen in every light and width. */
  const views: readonly (readonly [what: string, path: () => string, ready: string])[] = [
    ['dead letters', () => `/dead-letters?at=${letter}`, '.inspect .json pre'],
    ['errors', () => '/errors', 'tbody tr'],
    ['one error', () => `/errors/${fingerprint}`, '.error-panel'],
    ['bulk operations', () => '/bulk', 'tbody tr'],
    ['one bulk operation', () => `/bulk/${bulk}`, '.refusals'],
    ['activity', () => '/activity', 'tbody tr'],
    ['a bulk operation to begin', () => '/runs?q=status:failed', 'dialog .preview details'],
    ['an input to edit', () => `/dead-letters?at=${letter}`, 'dialog .preview dl'],
  ];
  for (const [what, path, ready] of views) {
    test(`nothing to complain of: ${what}`, async () => {
      const { page } = await open(stage, path());
      if (what.startsWith('a bulk')) {
        await page.locator('tbody tr').first().waitFor();
        await page.keyboard.press('X');
        await page.keyboard.press('b');
      }
      if (what.startsWith('an input')) {
        await page.getByRole('button', { name: 'Edit and redrive' }).click();
      }
      await page.locator(ready).first().waitFor();
      const said: string[] = [];
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          said.push(...(await judge(`${colorScheme}, ${width} px`, page)));
        }
      }
      expect(said).toEqual([]);
    });
  }
});

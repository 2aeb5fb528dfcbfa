/** Every page as it ships, under the policy of the server: by mouse, by keys, and one run acted on. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, TEST_MS_MAX, useBrowser } from './browser.ts';
import { lettersOf, made, openStage, post, type Stage, until } from './stage.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('as it ships', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  test('every page is opened, by mouse and by keys, and one is acted on', async () => {
    const [failed = ''] = await lettersOf(stage, 1);
    const waiting = await made(stage, 'ui/retrying', 'waiting');
    const many = { what: 'redrive', filter: 'is:dead-letter machine:ui/none' };
    const { id: bulk } = await post(stage, '/bulk', many);
    const { page, requests } = await open(stage, '/');
    const policy = (await page.reload())!.headers()['content-security-policy'];
    expect(policy).toContain("require-trusted-types-for 'script'");
    const heading = (name: string | RegExp) =>
      page.getByRole('heading', { level: 1, name }).waitFor();
    await heading('Runs');
    const rail = page.getByRole('navigation', { name: 'Pages' });
    for (const [name, key] of [
      ...[['Overview', 'o'] as const, ['Errors', 'e'] as const, ['Dead letters', 'd'] as const],
      ...[['Machines', 'm'] as const, ['Pods', 'p'] as const, ['Throttles', 't'] as const],
      ...[['Queues', 'q'] as const, ['Schedules', 's'] as const],
      ...[['Bulk', 'b'] as const, ['Activity', 'a'] as const, ['Runs', 'r'] as const],
    ]) {
      await rail.getByRole('link', { name, exact: true }).click();
      await heading(new RegExp(`^${name}`));
      await page.getByText('Live', { exact: true }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      // Away from it, and back by keys.
      await page.keyboard.press('g');
      await page.keyboard.press(key === 'r' ? 'o' : 'r');
      await heading(key === 'r' ? 'Overview' : 'Runs');
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await heading(new RegExp(`^${name}`));
    }
    const { fingerprint } = await firstGroup(stage);
    for (const [path, name] of [
      [`/runs/${failed}`, /ui\/failing/],
      [`/errors/${fingerprint}`, 'no such bucket'],
      ['/machines/ui%2Ftyped', 'ui/typed'],
      [`/bulk/${bulk}`, /Redrive/],
      [`/pods/${await onlyPod(stage)}`, /./],
    ] as const) {
      await page.goto(stage.url + path);
      await heading(name);
    }
    await page.goto(`${stage.url}/runs/${waiting}`);
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await until(stage, waiting, 'cancelled');
    expect(requests.filter((url) => url.endsWith('.js')).length).toBeGreaterThan(20);
  });
});

async function firstGroup(stage: Stage): Promise<{ readonly fingerprint: string }> {
  const told = await (await fetch(`${stage.url}/api/v1/errors`)).json();
  return (told as { groups: { fingerprint: string }[] }).groups[0]!;
}

async function onlyPod(stage: Stage): Promise<string> {
  const told = await (await fetch(`${stage.url}/api/v1/pods`)).json();
  return (told as { pods: { pod: string }[] }).pods[0]!.pod;
}

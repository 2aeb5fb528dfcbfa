/**
 * Every page in the very build that ships. A test runner asks for React with its warnings, and gets it
 * in the other journeys; here the files are those that people get, under the policy of the real server.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

function ship(): string {
  const directory = newDir();
  const vite = fileURLToPath(new URL('../../node_modules/vite/bin/vite.js', import.meta.url));
  const asked = [vite, 'build', 'admin-ui', '--outDir', directory, '--logLevel', 'error'];
  execFileSync(process.execPath, asked, { env: { ...process.env, NODE_ENV: 'production' } });
  return directory;
}

/** The server's own answers, with the text of the files that ship. */
async function serve(page: Page, directory: string): Promise<string[]> {
  const assets = new Set(readdirSync(join(directory, 'assets')));
  const shipped = readFileSync(join(directory, 'index.html'), 'utf8');
  const served: string[] = [];
  await page.route(/\/assets\//, async (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1)!;
    served.push(name);
    if (!assets.has(name)) return route.fulfill({ status: 404, body: '' });
    return route.fulfill({ path: join(directory, 'assets', name) });
  });
  const document = async (route: Route) => {
    if (route.request().resourceType() !== 'document') return route.fallback();
    const answer = await route.fetch();
    const [base] = /<base [^>]*>/.exec(await answer.text())!;
    const { 'content-security-policy': policy = '', 'content-type': type = '' } = answer.headers();
    expect(policy).toContain("require-trusted-types-for 'script'");
    return route.fulfill({
      headers: { 'content-security-policy': policy, 'content-type': type },
      body: shipped.replace(/<base [^>]*>/, base),
    });
  };
  await page.route(/./, document);
  return served;
}

describe.skipIf(program === undefined)('as it ships', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  test('every page is opened, by mouse and by keys, and one is acted on', async () => {
    const directory = ship();
    const [failed = ''] = await lettersOf(stage, 1);
    const { id: waiting } = await stage.fleet.enqueueByName('ui/retrying', {});
    await until(stage, waiting, 'waiting');
    const many = { what: 'redrive', filter: 'is:dead-letter machine:ui/none' };
    const { id: bulk } = await post(stage, '/bulk', many);
    const { page } = await open(stage, '/api');
    const served = await serve(page, directory);
    await page.goto(`${stage.url}/`);
    const heading = (name: string | RegExp) =>
      page.getByRole('heading', { level: 1, name }).waitFor();
    await heading('Runs');
    const rail = page.getByRole('navigation', { name: 'Pages' });
    for (const [name, key] of [
      ...[['Overview', 'o'] as const, ['Errors', 'e'] as const, ['Dead letters', 'd'] as const],
      ...[['Machines', 'm'] as const, ['Pods', 'p'] as const, ['Throttles', 't'] as const],
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
    expect(served.filter((name) => name.endsWith('.js')).length).toBeGreaterThan(20);
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

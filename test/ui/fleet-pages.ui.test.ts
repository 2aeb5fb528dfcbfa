/** Pods, machines and the overview, as somebody uses them: by mouse, by keys, while things happen. */
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, passTime, TEST_MS_MAX, useBrowser } from './browser.ts';
import { haunt } from './ghosts.ts';
import { openStage, type Stage, until } from './stage.ts';

const newDir = useTempDirs();
const patiently = { timeout: PATIENCE_MS };

describe.skipIf(!hasBrowser)('the fleet in pages', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let own: string;
  beforeAll(async () => {
    stage = await openStage(newDir());
    const { fleet } = stage;
    for (let n = 0; n < 4; n++) await fleet.enqueueByName('ui/order', { n });
    const failed = (await fleet.enqueueByName('ui/failing', {})).id;
    const held = (await fleet.enqueueByName('ui/gated', {})).id;
    await until(stage, failed, 'failed');
    await until(stage, held, 'claimed');
    own = (await fleet.store.pods())[0]!.pod;
  });
  afterAll(() => stage?.stop());

  test('pods by mouse: who leads, what it holds, and a drain that says first what it does', async () => {
    const ghost = await haunt(stage.fleet, { name: 'wisp' });
    const { page } = await open(stage, '/pods');
    const row = page.locator('tr', { hasText: 'wisp' });
    await row.waitFor();
    const leader = page.locator('tr', { has: page.getByRole('img', { name: 'leads' }) });
    expect(await leader.locator('a[data-row]').getAttribute('title')).toBe(own);
    await expect.poll(() => leader.textContent(), patiently).toContain('1 run');
    await row.getByRole('button', { name: 'Drain wisp' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('It holds no runs.').waitFor();
    await dialog.getByText('No other pod has ui/ghostly@1').waitFor();
    expect((await stage.fleet.store.pods()).find(({ pod }) => pod === ghost)?.desired).toBe(
      undefined,
    );
    await dialog.getByLabel(/Reason/).fill('its host is noisy');
    await dialog.getByRole('button', { name: 'Drain', exact: true }).click();
    await page.getByText('wisp was asked to drain').waitFor();
    await expect.poll(() => row.textContent(), patiently).toContain('Draining');
    const audit = await fetch(`${stage.url}/api/v1/audit?what=drain`);
    const { rows } = (await audit.json()) as { rows: { detail: object }[] };
    expect(rows[0]!.detail).toMatchObject({ name: 'wisp', reason: 'its host is noisy' });
    // What it holds is one press away, as a list under a filter.
    await leader.getByRole('link', { name: '1 run' }).click();
    await page.getByRole('link', { name: 'ui/gated' }).waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe(`pod:${own}`);
  });

  test('pods by keys: there, along the rows, into one, and back', async () => {
    const { page } = await open(stage, '/');
    await page.getByRole('link', { name: 'ui/order' }).first().waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('p');
    await page.locator('a[data-row]').first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).pathname).toBe(`/pods/${own}`);
    await page.getByRole('region', { name: 'Runs in hand' }).getByText('ui/gated').waitFor();
    await page.keyboard.press('d');
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('Escape');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/pods');
    await page.goto(`${stage.url}/pods/nobody`);
    await page.getByText('There is no such pod').waitFor();
  });

  test('the overview says first what failed, and leads there; a chart is a table as well', async () => {
    const { page } = await open(stage, '/machines');
    await page.getByRole('heading', { name: 'Machines' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    const needs = page.getByRole('region', { name: 'Needs attention' });
    await needs.getByText('ui/failing failed once within the hour').waitFor();
    await needs.getByText('1 dead letter').waitFor();
    await page.locator('.chart canvas').first().waitFor();
    const width = await page
      .locator('.chart canvas')
      .first()
      .evaluate('document.querySelector(".chart canvas").getBoundingClientRect().width');
    expect(Number(width)).toBeGreaterThan(500);
    await page.getByRole('button', { name: 'Runs by when they were created as a table' }).click();
    const table = page.getByRole('region', { name: /created, as a table/ });
    await table.getByRole('columnheader', { name: 'Failed' }).waitFor();
    await page.getByLabel('The charts show the last').selectOption('6h');
    await expect.poll(() => new URL(page.url()).searchParams.get('w')).toBe('6h');
    await page.keyboard.press('Escape');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'ui/failing' }).first().waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toContain('status:failed');
  });

  test('paused, the overview asks nothing; then it is told everything', async () => {
    const { page, requests } = await open(stage, '/overview', { hasClock: true });
    await page.getByText('Live', { exact: true }).waitFor();
    const first = requests.length;
    await passTime(page);
    expect(requests.length).toBeGreaterThan(first + 3);
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await expect.poll(() => stage.streams()).toBe(0);
    await page.waitForLoadState('networkidle');
    const asked = requests.length;
    await passTime(page);
    expect(requests.slice(asked)).toEqual([]);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => requests.length, patiently).toBeGreaterThan(asked + 3);
  });

  test('machines: counts, the grid of runs and phases, versions', async () => {
    const { page } = await open(stage, '/machines');
    const row = page.locator('tr', { hasText: 'ui/failing' });
    await row.getByRole('link', { name: '1' }).waitFor();
    expect(await page.getByRole('link', { name: 'recovery/sweep' }).count()).toBe(0);
    await page.getByRole('link', { name: 'ui/order' }).click();
    const grid = page.getByRole('slider', { name: /Runs by phase/ });
    await expect.poll(() => page.locator('.grid-run').count(), patiently).toBe(4);
    await expect.poll(() => page.locator('.cell-passed').count(), patiently).toBeGreaterThan(16);
    await grid.focus();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(() => grid.getAttribute('aria-valuetext')).toMatch(/^Completed: main.check/);
    await page.keyboard.press('Enter');
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/runs\/01/);
    await page.getByRole('heading', { name: /ui\/order/ }).waitFor();
  });

  test('a start from the schema: wrong is said where it is wrong, and right becomes a run', async () => {
    const { page } = await open(stage, '/machines/ui%2Ftyped');
    await page.getByRole('button', { name: 'Start a run' }).waitFor();
    await page.keyboard.press('n');
    const dialog = page.getByRole('dialog', { name: 'Start ui/typed' });
    await dialog.getByLabel('name').fill('A');
    await dialog.getByText('wants 2 characters or more').waitFor();
    await dialog.getByLabel('times').fill('12');
    await dialog.getByText('wants 9 or less').waitFor();
    await dialog.getByLabel('name').fill('Ada');
    await dialog.getByLabel('times').fill('3');
    await dialog.getByLabel(/^tone/).selectOption('cool');
    await dialog.getByText('The machine takes this input.').waitFor();
    expect(await dialog.locator('.command code').textContent()).toBe(
      `fleetq enqueue ui/typed --input '{"name":"Ada","times":3,"tone":"cool"}'`,
    );
    await dialog.getByRole('button', { name: 'JSON' }).click();
    await dialog.getByLabel('Input, as JSON').fill('{"name":"Ada"');
    await dialog.getByText(/It is not JSON/).waitFor();
    await dialog.getByLabel('Input, as JSON').fill('{"name":"Ada"}');
    await dialog.getByRole('alert').getByText(/times/).waitFor();
    await dialog.getByLabel('Input, as JSON').fill('{"name":"Bea","times":2}');
    await dialog.getByText('The machine takes this input.').waitFor();
    await dialog.getByRole('button', { name: 'Form' }).click();
    expect(await dialog.getByLabel('name').inputValue()).toBe('Bea');
    await dialog.getByText('The machine takes this input.').waitFor();
    await flowIsSaid(page, dialog);
    await dialog.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/runs\//);
    const [row] = await stage.fleet.store.find([new URL(page.url()).pathname.slice(6) as RunId]);
    expect(row).toMatchObject({
      ...{ queue: 'calm', serialKey: 'ada', priority: -5, retriesMax: 3, key: 'once' },
    });
    await expect
      .poll(() => page.locator('.run-head').textContent(), patiently)
      .toContain('Completed');
  });

  /** By the keyboard alone; what is wrong is said at its field, also by the API. */
  async function flowIsSaid(page: Page, dialog: Locator): Promise<void> {
    const said = (name: string) =>
      dialog.locator('.start-flow .start-field[data-wrong]').filter({ hasText: name });
    const more = dialog.getByText('When, and in which order');
    expect(await dialog.getByLabel('Due').isVisible()).toBe(false);
    await more.focus();
    await page.keyboard.press('Enter');
    for (const word of ['calm', 'ada', '-99999', 'soon', '0']) {
      await page.keyboard.press('Tab');
      await page.keyboard.type(word);
    }
    await said('Priority').getByText('wants -32767 or more').waitFor();
    await said('Failures at most').getByText('wants 1 or more').waitFor();
    await dialog.getByLabel('Priority').fill('-5');
    await dialog.getByLabel('Failures at most').fill('3');
    await said('Due')
      .getByText(/must be a duration such as '10m'/)
      .waitFor();
    expect(await dialog.getByLabel('Due').getAttribute('aria-invalid')).toBe('true');
    await more.click();
    expect(await dialog.getByLabel('Due').isVisible()).toBe(true);
    await dialog.getByLabel('Due').fill('0s');
    await dialog.getByLabel(/^Key/).fill('schedule/mine');
    await dialog.getByText(/It must not begin with schedule\//).waitFor();
    await dialog.getByLabel(/^Key/).fill('once');
    await dialog.getByText('The machine takes this input.').waitFor();
    expect(await dialog.locator('.command code').textContent()).toMatch(
      / --key 'once' --queue calm --serial-key ada --priority -5 --run-at 0s --retries-max 3$/,
    );
  }

  test('who may only look is offered no drain and no start; without a store it is said so', async () => {
    const locked = await openStage(newDir(), { grants: [['ruth', 'read', false]] });
    const alone = await openStage(newDir(), { hasStore: false });
    try {
      const { page } = await open(locked, '/pods');
      await page.getByLabel('Token').fill(locked.secrets['ruth']!);
      await page.keyboard.press('Enter');
      await page.locator('a[data-row]').first().waitFor();
      expect(await page.getByRole('button', { name: /Drain/ }).count()).toBe(0);
      await page.goto(`${locked.url}/machines/ui%2Ftyped`);
      await page.getByRole('region', { name: 'Versions in flight' }).waitFor();
      expect(await page.getByRole('button', { name: /Start/ }).count()).toBe(0);
      await page.close();
      const { page: other } = await open(alone, '/pods');
      await other.getByText('FLEETQ_NO_STORE').waitFor();
      await other.goto(`${alone.url}/overview`);
      await other.getByText('FLEETQ_NO_STORE').waitFor();
      await other.goto(`${alone.url}/machines`);
      await other.getByRole('link', { name: 'ui/typed' }).waitFor();
      await other.close();
    } finally {
      await locked.stop();
      await alone.stop();
    }
  });
});

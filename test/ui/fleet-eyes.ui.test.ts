/** The pages of the fleet for everybody: axe, three widths, two themes; and hostile names. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prompt } from '../store/sqlite-harness.ts';
import { bury, haunt } from './ghosts.ts';
import {
  openStage,
  post,
  program,
  type Stage,
  TEST_MS_MAX,
  until,
  useBrowser,
  useTempDirs,
} from './stage.ts';
import { XSS } from './xss-strings.ts';

const newDir = useTempDirs();
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** Of the page as it stands: each theme at each width. */
async function judge(what: string, page: Page): Promise<string[]> {
  const said: string[] = [];
  await page.evaluate(axe);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      const asked = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)} })`;
      const { violations } = (await page.evaluate(asked)) as Found;
      const at = `${what}, ${colorScheme}, ${width} px`;
      said.push(...violations.map(({ id, nodes }) => `${at}: ${id}: ${nodes[0]?.html}`));
      const wide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
      if (wide > 0) said.push(`${at}: ${wide} pixels stick out`);
    }
  }
  return said;
}

describe.skipIf(program === undefined)('the fleet for everybody', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let ghost: string;
  beforeAll(async () => {
    stage = await openStage(newDir());
    ghost = await haunt(stage.fleet, { name: 'wisp' });
    await bury(stage.fleet, await haunt(stage.fleet, { name: 'shade' }));
    for (const [machine, status] of [
      ['ui/order', 'completed'],
      ['ui/failing', 'failed'],
      ['ui/gated', 'claimed'],
    ] as const) {
      const { id } = await stage.fleet.enqueueByName(machine, { n: 1 });
      await until(stage, id, status);
    }
    await stage.fleet.throttle('llm').use(() => 1);
  });
  afterAll(() => stage?.stop());

  test('axe has nothing to complain of, in both themes at three widths', async () => {
    const { page } = await open(stage, '/overview');
    await page.getByText('ui/failing failed once').waitFor();
    await page.locator('.chart canvas').first().waitFor();
    const said = await judge('overview', page);
    await page.goto(`${stage.url}/machines`);
    await page.getByRole('link', { name: 'ui/order' }).waitFor();
    said.push(...(await judge('machines', page)));
    await page.goto(`${stage.url}/machines/ui%2Forder`);
    await page.locator('.grid-run').first().waitFor();
    said.push(...(await judge('a machine', page)));
    await page.goto(`${stage.url}/machines/ui%2Ftyped`);
    await page.getByRole('button', { name: 'Start a run' }).click();
    await page.getByRole('dialog').getByLabel('name').fill('A');
    await page.getByText('wants 2 characters or more').waitFor();
    await page.getByText('When, and in which order').click();
    await page.getByLabel('Priority').fill('high');
    await page.getByText('wants a number').waitFor();
    said.push(...(await judge('a start', page)));
    await page.goto(`${stage.url}/pods?all=true`);
    await page.locator('tr', { hasText: 'wisp' }).waitFor();
    said.push(...(await judge('pods', page)));
    await page.goto(`${stage.url}/pods/${ghost}`);
    await page.getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    said.push(...(await judge('a drain', page)));
    expect(said).toEqual([]);
  });

  test('nor has it of throttles', async () => {
    const { page } = await open(stage, '/throttles');
    await page.locator('tr', { hasText: 'llm' }).waitFor();
    const said = await judge('throttles', page);
    await page.goto(`${stage.url}/throttles/llm`);
    await page.getByRole('region', { name: 'Pods' }).locator('a[data-row]').waitFor();
    said.push(...(await judge('a throttle', page)));
    await page.getByRole('button', { name: 'Fix the limit' }).click();
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    said.push(...(await judge('a limit', page)));
    expect(said).toEqual([]);
  });
});

describe.skipIf(program === undefined)(
  'what flows, for everybody',
  { timeout: TEST_MS_MAX },
  () => {
    const open = useBrowser();
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage(newDir());
      const held = await stage.fleet.enqueueByName('ui/gated', {}, { queue: 'reports' });
      await until(stage, held.id, 'claimed');
      await post(stage, '/queues', { what: 'queue.limit', name: 'reports', limit: 1 });
      await post(stage, '/queues', {
        what: 'queue.pause',
        name: `a-queue-${'of-many-words'.repeat(9)}`,
      });
      await post(stage, '/queues', { what: 'machine.pause', name: 'ui/order' });
      const said = { cron: '*/5 * * * *', zone: 'Australia/Lord_Howe', input: {} };
      await post(stage, '/schedules/nightly', { machine: 'ui/order', ...said });
      await post(stage, '/schedules/orphan', { machine: 'ui/nobody', ...said });
      await post(stage, `/schedules/${'long-name-'.repeat(9)}`, { machine: 'ui/order', ...said });
      await post(stage, `/schedules/${'long-name-'.repeat(9)}/pause`, {});
    });
    afterAll(() => stage?.stop());

    test('axe has nothing to complain of queues', async () => {
      const { page } = await open(stage, '/queues');
      await page.getByRole('button', { name: 'Resume ui/order' }).waitFor();
      const said = await judge('queues', page);
      await page.getByRole('button', { name: 'Limit a queue' }).click();
      await page.getByRole('dialog').getByLabel('Name of the queue').fill('reports');
      await page.getByRole('dialog').getByText('What it would do').waitFor();
      said.push(...(await judge('a limit', page)));
      expect(said).toEqual([]);
    });

    test('nor has it of schedules', async () => {
      const { page } = await open(stage, '/schedules');
      await page.locator('tr', { hasText: 'nightly' }).waitFor();
      const said = await judge('schedules', page);
      await page.goto(`${stage.url}/schedules/orphan`);
      await page.getByRole('region', { name: 'Next ticks' }).locator('li').first().waitFor();
      said.push(...(await judge('a schedule', page)));
      await page.getByRole('button', { name: 'Pause it' }).click();
      await page.getByRole('dialog').getByRole('heading', { name: 'What it would do' }).waitFor();
      said.push(...(await judge('a pause', page)));
      expect(said).toEqual([]);
    });
  },
);

describe.skipIf(program === undefined)('names stay names', { timeout: TEST_MS_MAX }, () => {
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

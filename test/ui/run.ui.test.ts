/** The page of one run, as somebody uses it: what it is, why, and what can be done about it. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { readRunFile } from '../../src/cli/run-file/read.ts';
import { defineMachine, exponential } from '../../src/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, useBrowser } from './browser.ts';
import { made, openStage, type Stage, until } from './stage.ts';

const newDir = useTempDirs();

/** A record every few milliseconds, until somebody has seen enough. */
const restless = defineMachine({
  name: 'ui/restless',
  version: 1,
  input: z.looseObject({}),
  retry: { attemptMax: 100_000, backoff: exponential('20ms', { max: '20ms' }) },
  check: 'none',
  work: () => {
    throw new Error('the line is busy');
  },
});

describe.skipIf(!hasBrowser)('the page of a run', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir(), { machines: [restless] });
  });
  afterAll(() => stage?.stop());

  async function revisionOf(id: string): Promise<string> {
    const answer = await fetch(`${stage.url}/api/v1/runs/${id}`);
    return ((await answer.json()) as { revision: string }).revision;
  }

  test('what failed says so: the sentence, the error with its cause, others like it', async () => {
    const id = await made(stage, 'ui/failing', 'failed');
    const { page } = await open(stage, `/runs/${id}`);
    await page.locator('.explain-first', { hasText: 'no such bucket' }).waitFor();
    const error = page.getByRole('region', { name: 'Error' });
    expect(await error.textContent()).toContain('because of no such bucket');
    await error.getByRole('link', { name: 'Runs that failed the same way' }).click();
    await page.locator(`a[title="${id}"]`).waitFor();
  });

  test('it is taken along as a file that is read where nothing of it is', async () => {
    const id = await made(stage, 'ui/order', 'completed', { n: 8 });
    const { page } = await open(stage, `/runs/${id}`);
    const elsewhere = page.getByRole('region', { name: 'The same elsewhere' });
    const coming = page.waitForEvent('download', { timeout: PATIENCE_MS });
    await elsewhere.getByRole('button', { name: 'Download' }).press('Enter');
    const download = await coming;
    expect(download.suggestedFilename()).toBe(`${id}.run.json`);
    const path = join(newDir(), download.suggestedFilename());
    await download.saveAs(path);
    const { file } = readRunFile(path);
    expect(file).toMatchObject({ id, task: { status: 'completed', payload: '{"n":8}' } });
    await page.getByText(/Downloaded, with its payloads/).waitFor();
  });

  test('every event has its why; the context goes with the one that is chosen', async () => {
    const id = await made(stage, 'ui/order', 'completed', { n: 7 });
    const { page } = await open(stage, `/runs/${id}`);
    await page.getByText('main.persist is done, and it was the last: completed.').first().waitFor();
    const line = page.getByRole('img', { name: /main.check passed, main.work passed/ });
    await line.waitFor();
    // By keys from the last event back to the one in which work was done.
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    await expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe('2');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page
      .locator('.diff-path', { hasText: 'work.total' })
      .or(page.locator('.diff-path', { hasText: /^work$/ }))
      .waitFor();
    expect(await page.locator('.diff').textContent()).toContain('42');
    await page.getByRole('button', { name: 'Event', exact: true }).click();
    await expect.poll(() => page.locator('.json pre').first().textContent()).toContain('"DONE"');
    // A link to an event shows that event.
    await page.goto(`${stage.url}/runs/${id}?at=0`);
    await page
      .getByText(/began it; main.check comes first/)
      .first()
      .waitFor();
    await expect
      .poll(() => page.locator('.log tr[data-current]').textContent())
      .toContain('STARTED');
  });

  test('it is followed while it runs: from running to completed without a reload', async () => {
    const id = await made(stage, 'ui/gated', 'claimed');
    const { page } = await open(stage, `/runs/${id}`);
    await page.locator('.run-title .status', { hasText: 'Running' }).waitFor();
    stage.opening.open();
    await page.locator('.run-title .status', { hasText: 'Completed' }).waitFor();
    await page
      .getByText(/main.persist is done/)
      .first()
      .waitFor();
  });

  test('its end is followed while it is in sight; whoever reads further up is left there', async () => {
    const run = await stage.fleet.enqueueByName('ui/restless', {});
    try {
      const { page } = await open(stage, `/runs/${run.id}`);
      const log = page.locator('.log');
      const top = async () =>
        Number(await log.evaluate((element: { scrollTop: number }) => element.scrollTop));
      const height = async () =>
        Number(await log.evaluate((element: { scrollHeight: number }) => element.scrollHeight));
      // Nobody has touched it: the newest is shown.
      await expect.poll(top).toBeGreaterThan(300);
      await log.hover();
      const turned = (pixels: number) => page.mouse.wheel(0, pixels).then(top);
      await expect.poll(() => turned(-100_000)).toBe(0);
      const before = await height();
      await expect.poll(height).toBeGreaterThan(before + 600);
      expect(await top()).toBe(0);
      // Many may come in while it is turned to the end: then it takes another turn.
      const carried = async () => {
        const there = await turned(1_000_000);
        const grown = await height();
        await expect.poll(height).toBeGreaterThan(grown + 100);
        return (await top()) - there;
      };
      await expect.poll(carried).toBeGreaterThan(0);
    } finally {
      await run.cancel('seen enough');
      await until(stage, run.id, 'cancelled');
    }
  });

  test('an act is tried first, and done to the run as it was seen', async () => {
    const id = await made(stage, 'ui/retrying', 'waiting');
    const { page } = await open(stage, `/runs/${id}`);
    await page.getByRole('button', { name: 'Pause', exact: true }).last().click();
    const dialog = page.getByRole('dialog', { name: 'Pause: ui/retrying' });
    await dialog.getByText('What it would do').waitFor();
    expect(await dialog.locator('.command').textContent()).toContain(
      `fleetq pause ${id} --if-revision`,
    );
    // Nothing was done by asking.
    await until(stage, id, 'waiting');
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await page.locator('.run-title .status', { hasText: 'Paused' }).waitFor();
    await page.getByRole('button', { name: 'Resume', exact: true }).click();
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.locator('.run-title .status', { hasText: 'Waiting' }).waitFor();
  });

  test('by keys: cancelled with a reason, which is told afterwards', async () => {
    const id = await made(stage, 'ui/retrying', 'waiting');
    const { page } = await open(stage, `/runs/${id}`);
    await page.getByRole('button', { name: 'Cancel' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    // The focus stays within the dialog.
    for (let n = 0; n < 12; n++) {
      await page.keyboard.press('Tab');
      const isInside = await page.evaluate(
        'document.activeElement === document.body || document.activeElement.closest("dialog") !== null',
      );
      expect(isInside).toBe(true);
    }
    await page.getByRole('textbox').focus();
    await page.keyboard.type('wrong customer');
    await page.keyboard.press('Enter');
    await page.locator('.run-title .status', { hasText: 'Cancelled' }).waitFor();
    await until(stage, id, 'cancelled');
  });

  test('a run that has changed meanwhile is not acted on, and the page says so', async () => {
    const id = await made(stage, 'ui/retrying', 'waiting');
    const { page } = await open(stage, `/runs/${id}`);
    await page.locator('.run-title .status', { hasText: 'Waiting' }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).first().click();
    await page.getByText('Paused', { exact: true }).waitFor();
    const seen = await revisionOf(id);
    const answer = await fetch(`${stage.url}/api/v1/runs/${id}/retry`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(200);
    await expect.poll(() => revisionOf(id), { timeout: PATIENCE_MS }).not.toBe(seen);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('dialog').getByText('FLEETQ_REVISION').waitFor();
    expect(
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).isDisabled(),
    ).toBe(true);
  });

  test('a fork leads to the new run', async () => {
    const id = await made(stage, 'ui/order', 'completed', { n: 8 });
    const { page } = await open(stage, `/runs/${id}`);
    await page.getByRole('button', { name: 'Fork' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('combobox').selectOption('main.work');
    await dialog.getByText('What it would do').waitFor();
    await dialog.getByRole('button', { name: 'Fork' }).click();
    await expect
      .poll(() => new URL(page.url()).pathname, { timeout: PATIENCE_MS })
      .not.toBe(`/runs/${id}`);
    await page
      .getByText(/as a fork of/)
      .first()
      .waitFor();
  });

  test('copies on plain HTTP, where the browser gives no clipboard', async () => {
    const id = await made(stage, 'ui/order', 'completed');
    const { page } = await open(stage, `/runs/${id}`);
    await page.evaluate('Object.defineProperty(window, "isSecureContext", { value: false })');
    await page.getByRole('button', { name: 'Copy the id' }).click();
    await page.getByText('Copied the id').waitFor();
    await page.goto(`${stage.url}/runs`);
    await page.getByRole('combobox', { name: 'Filter runs' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.press('Control+v');
    expect(await page.getByRole('combobox', { name: 'Filter runs' }).inputValue()).toBe(id);
  });

  test('a run that nobody knows is said to be none', async () => {
    const { page } = await open(stage, '/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV');
    await page.getByText('FLEETQ_RUN_NOT_FOUND').waitFor();
  });
});

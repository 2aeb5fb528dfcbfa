/** Every act on one run, by mouse and by keys alone: tried first, told afterwards. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, PATIENCE_MS, TEST_MS_MAX, tabTo, useBrowser } from './browser.ts';
import { made, openStage, type Stage, until } from './stage.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('acts on a run', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  interface Told {
    readonly retries: number;
    readonly dueAt?: number;
    readonly generation: number;
    readonly isPaused?: boolean;
    readonly discardedAt?: number;
  }

  async function told(id: string): Promise<Told> {
    return (await (await fetch(`${stage.url}/api/v1/runs/${id}`)).json()) as Told;
  }

  const by: Record<'mouse' | 'keys', (page: Page, label: string) => Promise<void>> = {
    mouse: async (page, label) => {
      await page.locator('.actions').getByRole('button', { name: label, exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('What it would do').waitFor();
      await dialog.getByRole('button', { name: label, exact: true }).click();
    },
    keys: async (page, label) => {
      await page.locator('.actions').getByRole('button', { name: label, exact: true }).waitFor();
      await tabTo(page, new RegExp(`^${label}$`));
      await page.keyboard.press('Enter');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('What it would do').waitFor();
      await tabTo(page, new RegExp(`^${label}$`));
      await page.keyboard.press('Enter');
    },
  };

  for (const how of ['mouse', 'keys'] as const) {
    const act = by[how];

    test(`by ${how}: what waits is tried now, paused, resumed and put off`, async () => {
      const id = await made(stage, 'ui/retrying', 'waiting');
      const { page } = await open(stage, `/runs/${id}`);
      const { retries } = await told(id);
      await act(page, 'Retry now');
      await expect
        .poll(async () => (await told(id)).retries, { timeout: PATIENCE_MS })
        .toBe(retries + 1);
      await page.getByText(/Retry now: /).waitFor();
      await until(stage, id, 'waiting');
      await page.locator('.run-title .status', { hasText: 'Waiting' }).waitFor();
      await act(page, 'Pause');
      await page.locator('.run-title .status', { hasText: 'Paused' }).waitFor();
      await act(page, 'Resume');
      await expect.poll(async () => (await told(id)).isPaused ?? false).toBe(false);
      await page.locator('.run-title .status', { hasText: 'Waiting' }).waitFor();
      const due = (await told(id)).dueAt;
      await act(page, 'Reschedule');
      await expect.poll(async () => (await told(id)).dueAt).not.toBe(due);
      // Back where one was, whatever has become of the run.
      const focused = () => page.evaluate('document.activeElement.textContent');
      await expect.poll(focused).toBe('Reschedule');
    });

    test(`by ${how}: what failed is redriven, and put away`, async () => {
      const id = await made(stage, 'ui/failing', 'failed');
      const { page } = await open(stage, `/runs/${id}`);
      await act(page, 'Redrive');
      await expect.poll(async () => (await told(id)).generation).toBe(2);
      await until(stage, id, 'failed');
      await page.locator('.run-title .status', { hasText: 'Failed' }).waitFor();
      await act(page, 'Discard');
      await expect.poll(async () => (await told(id)).discardedAt ?? 0).toBeGreaterThan(0);
    });

    test(`by ${how}: forked, and cancelled`, async () => {
      const id = await made(stage, 'ui/order', 'completed');
      const { page } = await open(stage, `/runs/${id}`);
      await act(page, 'Fork');
      await expect
        .poll(() => new URL(page.url()).pathname, { timeout: PATIENCE_MS })
        .not.toBe(`/runs/${id}`);
      const doomed = await made(stage, 'ui/retrying', 'waiting');
      await page.goto(`${stage.url}/runs/${doomed}`);
      await act(page, 'Cancel');
      await until(stage, doomed, 'cancelled');
    });
  }
});

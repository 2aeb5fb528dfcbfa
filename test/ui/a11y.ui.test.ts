/** For everybody: axe finds nothing on any page, in both themes, at three widths; nothing sticks out. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { judgeAll } from './axe.ts';
import { hasBrowser, TEST_MS_MAX, useBrowser } from './browser.ts';
import { bury, haunt } from './ghosts.ts';
import { buildPagesThatWarn, serveInstead } from './pages-that-warn.ts';
import { lettersOf, made, openStage, post, type Stage, until } from './stage.ts';

const newDir = useTempDirs();
const pages = newDir();
const LONG = 'long-name-'.repeat(9);

/** What is judged, where it is, and what is done until it is there. */
type View = readonly [
  what: string,
  path: string,
  reach: (page: Page, dialog: ReturnType<Page['getByRole']>) => Promise<unknown>,
];

describe.skipIf(!hasBrowser)('axe', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    buildPagesThatWarn(pages);
    stage = await openStage(newDir());
    for (const [machine, status] of [
      ['ui/order', 'completed'],
      ['ui/retrying', 'waiting'],
      ['ui/gated', 'claimed'],
    ] as const) {
      ids[machine] = await made(stage, machine, status, { n: 1 }, { key: `key of ${machine}` });
    }
    await putInLetters();
    await putInPods();
    await putInFlow();
  });
  afterAll(() => stage?.stop());

  async function putInLetters(): Promise<void> {
    const [letter = ''] = await lettersOf(stage, 3);
    ids['letter'] = letter;
    await post(stage, `/runs/${letter}/redrive`, { dryRun: false });
    await until(stage, letter, 'failed');
    const bulk = await post(stage, '/bulk', { what: 'pause', filter: 'machine:ui/failing' });
    ids['bulk'] = bulk.id;
    await until(stage, bulk.id, 'completed', 'bulk');
    const answer = await fetch(`${stage.url}/api/v1/errors`);
    const { groups } = (await answer.json()) as { groups: { fingerprint: string }[] };
    ids['error'] = groups[0]!.fingerprint;
  }

  async function putInPods(): Promise<void> {
    ids['ghost'] = await haunt(stage.fleet, { name: 'wisp' });
    await bury(stage.fleet, await haunt(stage.fleet, { name: 'shade' }));
    await stage.fleet.throttle('llm').use(() => 1);
  }

  async function putInFlow(): Promise<void> {
    const held = await stage.fleet.enqueueByName('ui/gated', {}, { queue: 'reports' });
    await until(stage, held.id, 'claimed');
    const long = `a-queue-${'of-many-words'.repeat(9)}`;
    await post(stage, '/queues', { what: 'queue.limit', name: 'reports', limit: 1 });
    await post(stage, '/queues', { what: 'queue.pause', name: long });
    await post(stage, '/queues', { what: 'machine.pause', name: 'ui/order' });
    const said = { cron: '*/5 * * * *', zone: 'Australia/Lord_Howe', input: {} };
    await post(stage, '/schedules/nightly', { machine: 'ui/order', ...said });
    await post(stage, '/schedules/orphan', { machine: 'ui/nobody', ...said });
    await post(stage, `/schedules/${LONG}`, { machine: 'ui/order', ...said });
    await post(stage, `/schedules/${LONG}/pause`, {});
  }

  const preview = (dialog: ReturnType<Page['getByRole']>) =>
    dialog.getByRole('heading', { name: 'What it would do' }).waitFor();

  /** A view that has no path goes on where the one before it is. */
  const groups: Readonly<Record<string, () => readonly View[]>> = {
    runs: () => [
      ['runs', '/', (page) => page.getByRole('link', { name: 'ui/order' }).first().waitFor()],
      [
        'completions',
        '',
        async (page) => {
          await page.getByRole('combobox', { name: 'Filter runs' }).focus();
          await page.locator('.offers [role=option]').first().waitFor();
        },
      ],
      [
        'a wrong filter',
        '/runs?q=status:nothing',
        (page) =>
          page
            .getByText(/status must be one of/)
            .first()
            .waitFor(),
      ],
      [
        'a bulk operation to begin',
        '/runs?q=status:failed',
        async (page, dialog) => {
          await page.locator('tbody tr').first().waitFor();
          await page.keyboard.press('X');
          await page.keyboard.press('b');
          await dialog.locator('.preview details').first().waitFor();
        },
      ],
    ],
    'a run': () => [
      ['that failed', `/runs/${ids['letter']}`, whole],
      ['that goes on', `/runs/${ids['ui/gated']}`, whole],
      [
        'an act',
        '',
        async (page, dialog) => {
          await page.getByRole('button', { name: 'Cancel' }).click();
          await preview(dialog);
        },
      ],
    ],
    'what failed': () => [
      [
        'dead letters',
        `/dead-letters?at=${ids['letter']}`,
        (page) => page.locator('.inspect .json pre').waitFor(),
      ],
      [
        'an input to edit',
        '',
        async (page, dialog) => {
          await page.getByRole('button', { name: 'Edit and redrive' }).click();
          await dialog.locator('.preview dl').first().waitFor();
        },
      ],
      ['errors', '/errors', rows],
      ['one error', `/errors/${ids['error']}`, (page) => page.locator('.error-panel').waitFor()],
    ],
    'what people did': () => [
      ['bulk operations', '/bulk', rows],
      ['one of them', `/bulk/${ids['bulk']}`, (page) => page.locator('.refusals').waitFor()],
      ['activity', '/activity', rows],
    ],
    'the overview and machines': () => [
      [
        'overview',
        '/overview',
        async (page) => {
          await page.getByText(/^ui\/failing failed/).waitFor();
          await page.locator('.chart canvas').first().waitFor();
        },
      ],
      ['machines', '/machines', (page) => page.getByRole('link', { name: 'ui/order' }).waitFor()],
      ['a machine', '/machines/ui%2Forder', (page) => page.locator('.grid-run').first().waitFor()],
      [
        'a start',
        '/machines/ui%2Ftyped',
        async (page, dialog) => {
          await page.getByRole('button', { name: 'Start a run' }).click();
          await dialog.getByLabel('name').fill('A');
          await page.getByText('wants 2 characters or more').waitFor();
          await page.getByText('When, and in which order').click();
          await page.getByLabel('Priority').fill('high');
          await page.getByText('wants a number').waitFor();
        },
      ],
    ],
    pods: () => [
      ['all', '/pods?all=true', (page) => page.locator('tr', { hasText: 'wisp' }).waitFor()],
      [
        'a drain',
        `/pods/${ids['ghost']}`,
        async (page, dialog) => {
          await page.getByRole('button', { name: 'Drain' }).click();
          await preview(dialog);
        },
      ],
    ],
    throttles: () => [
      ['all', '/throttles', (page) => page.locator('tr', { hasText: 'llm' }).waitFor()],
      [
        'one',
        '/throttles/llm',
        (page) => page.getByRole('region', { name: 'Pods' }).locator('a[data-row]').waitFor(),
      ],
      [
        'a limit',
        '',
        async (page, dialog) => {
          await page.getByRole('button', { name: 'Fix the limit' }).click();
          await preview(dialog);
        },
      ],
    ],
    queues: () => [
      ['all', '/queues', (page) => page.getByRole('button', { name: 'Resume ui/order' }).waitFor()],
      [
        'a limit',
        '',
        async (page, dialog) => {
          await page.getByRole('button', { name: 'Limit a queue' }).click();
          await dialog.getByLabel('Name of the queue').fill('reports');
          await preview(dialog);
        },
      ],
    ],
    schedules: () => [
      ['all', '/schedules', (page) => page.locator('tr', { hasText: 'nightly' }).waitFor()],
      [
        'one',
        '/schedules/orphan',
        (page) => page.getByRole('region', { name: 'Next ticks' }).locator('li').first().waitFor(),
      ],
      [
        'a pause',
        '',
        async (page, dialog) => {
          await page.getByRole('button', { name: 'Pause it' }).click();
          await preview(dialog);
        },
      ],
    ],
  };

  for (const [name, views] of Object.entries(groups)) {
    test(`it has nothing to complain of: ${name}`, async () => {
      const prepare = (page: Page) => serveInstead(page, pages);
      const [[, first] = ['', '']] = views();
      const { page } = await open(stage, first, { prepare });
      const said: string[] = [];
      for (const [what, path, reach] of views()) {
        if (path !== '' && path !== first) await page.goto(stage.url + path);
        await reach(page, page.getByRole('dialog'));
        said.push(...(await judgeAll(what, page)));
      }
      expect(said).toEqual([]);
    });
  }

  test('nor has it of the way in', async () => {
    const locked = await openStage(newDir(), { grants: [['ada', 'admin', true]] });
    try {
      const prepare = (page: Page) => serveInstead(page, pages);
      const { page } = await open(locked, '/', { prepare });
      await page.getByLabel('Token').waitFor();
      expect(await judgeAll('login', page)).toEqual([]);
    } finally {
      await locked.stop();
    }
  });
});

const rows = (page: Page) => page.locator('tbody tr').first().waitFor();

async function whole(page: Page): Promise<void> {
  await page.locator('.explain-first').waitFor();
  await page.locator('.json pre').first().waitFor();
}

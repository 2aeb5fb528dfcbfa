/** Who may come in, and what they may see and do there. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, TEST_MS_MAX, useBrowser, type Watched } from './browser.ts';
import { openStage, post, type Stage } from './stage.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('with tokens', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();
  let stage: Stage;
  let failed: string;
  let bulk: string;
  beforeAll(async () => {
    stage = await openStage(newDir(), {
      grants: [
        ['ruth', 'read', false],
        ['rev', 'read', true],
        ['olga', 'operate', false],
      ],
    });
    failed = (await stage.fleet.enqueueByName('ui/failing', { secret: 'canary' })).id;
    for (let n = 0; n < 30; n++) await stage.fleet.enqueueByName('ui/retrying', { n });
    // So slow that it is paused before it is through, and stays so.
    const as = { authorization: `Bearer ${stage.secrets['olga']}` };
    const wanted = { what: 'reschedule', runAt: '1h', filter: 'machine:ui/retrying', rate: 1 };
    bulk = (await post(stage, '/bulk', wanted, as)).id;
    await post(stage, `/bulk/${bulk}/pause`, {}, as);
  });
  afterAll(() => stage?.stop());

  async function logIn({ page }: Watched, name: string): Promise<void> {
    await page.getByLabel('Token').fill(stage.secrets[name]!);
    await page.keyboard.press('Enter');
    await page.getByText(name).first().waitFor();
  }

  test('a wrong token is refused in words; a right one leads to where one wanted to go', async () => {
    const watched = await open(stage, `/runs/${failed}`);
    const { page } = watched;
    await page.getByLabel('Token').fill('fq_nothing');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('the token is not known here').waitFor();
    await logIn(watched, 'olga');
    await page.getByRole('heading', { name: /ui\/failing/ }).waitFor();
    // A session may change things: its header goes with every change.
    await page.getByRole('button', { name: 'Redrive' }).click();
    await page.getByRole('dialog').getByText('What it would do').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('Token').waitFor();
    // The way back leads nowhere without a token.
    await page.goto(`${stage.url}/runs`);
    await page.getByLabel('Token').waitFor();
  });

  test('who may only look is offered nothing to change, and payloads are masked', async () => {
    const watched = await open(stage, `/runs/${failed}`);
    await logIn(watched, 'ruth');
    const { page } = watched;
    await page.getByText('ruth may look, and not act (role read).').waitFor();
    expect(await page.getByRole('button', { name: 'Redrive' }).count()).toBe(0);
    await page.getByText('Payloads are masked for ruth.').waitFor();
    expect(await page.getByRole('button', { name: 'Download' }).count()).toBe(0);
    expect(await page.getByRole('main').textContent()).not.toContain('canary');
    expect(await page.getByRole('main').textContent()).not.toContain('no such bucket');
  });

  test('who may only look is offered nothing to change on the pages of many, either', async () => {
    const watched = await open(stage, `/dead-letters?at=${failed}`);
    await logIn(watched, 'ruth');
    const { page } = watched;
    await page.getByText('ruth may look, and not act (role read).').waitFor();
    await page.locator('tbody tr').first().waitFor();
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 run selected').waitFor();
    // Keys give no more than buttons.
    for (const key of ['b', 'r', 'e']) await page.keyboard.press(key);
    const acts = page.getByRole('button', { name: /Redrive|Discard|Act on|Pause it|Cancel it/ });
    expect(await acts.count()).toBe(0);
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.getByRole('main').textContent()).not.toContain('no such bucket');
    await page.goto(`${stage.url}/errors`);
    await page.locator('tbody tr a').first().click();
    await page.locator('.latest li').first().waitFor();
    expect(await acts.count()).toBe(0);
    await page.goto(`${stage.url}/bulk/${bulk}`);
    await page.getByText('ruth may look, and not act (role read).').waitFor();
    expect(await acts.count()).toBe(0);
    await page.goto(`${stage.url}/activity`);
    await page.getByText('The activity log is for admins.').waitFor();
  });

  test('who may act and is no admin puts nothing away', async () => {
    const watched = await open(stage, `/dead-letters?at=${failed}`);
    await logIn(watched, 'olga');
    const { page } = watched;
    await page.getByRole('button', { name: 'Redrive', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Discard' }).isDisabled()).toBe(true);
    // Nobody edits what they may not see.
    expect(await page.getByRole('button', { name: 'Edit and redrive' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Redrive all 1…' }).click();
    await page.getByRole('dialog').getByText('1 run', { exact: true }).waitFor();
    expect(await page.getByRole('radio', { name: 'Discard' }).count()).toBe(0);
  });

  test('who may reveal payloads does so on purpose', async () => {
    const watched = await open(stage, `/runs/${failed}?at=0`);
    await logIn(watched, 'rev');
    const { page } = watched;
    await page.getByRole('button', { name: 'Reveal payloads' }).click();
    await page.locator('.json pre', { hasText: 'canary' }).first().waitFor();
    await page.locator('.error-message', { hasText: 'no such bucket' }).waitFor();
  });
});

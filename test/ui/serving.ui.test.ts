/** The pages in an app of somebody else, below a prefix. */
import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import { fleetAdmin } from '../../src/admin/plugin.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { hasBrowser, TEST_MS_MAX, useBrowser } from './browser.ts';
import { openStage } from './stage.ts';

const newDir = useTempDirs();

describe.skipIf(!hasBrowser)('in an app of somebody else', { timeout: TEST_MS_MAX }, () => {
  const open = useBrowser();

  test('the pages begin where the plugin was registered, and find their API there', async () => {
    const stage = await openStage(newDir());
    const app = Fastify();
    app.get('/', async () => 'mine');
    await app.register(fleetAdmin(stage.fleet, { pages: true }), { prefix: '/ops/fleet' });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    try {
      expect(await (await fetch(`${url}/`)).text()).toBe('mine');
      expect(
        (await fetch(`${url}/ops/fleet`, { redirect: 'manual' })).headers.get('location'),
      ).toBe('/ops/fleet/');
      expect((await fetch(`${url}/ops/fleet/api/v1/nothing`)).status).toBe(404);
      expect((await fetch(`${url}/ops/fleet/api/nothing`)).status).toBe(404);
      const { id } = await stage.fleet.enqueueByName('ui/order', { n: 1 });
      const { page: shown, complaints } = await open({ ...stage, url }, '/ops/fleet/');
      await shown.getByRole('link', { name: 'ui/order' }).click();
      await shown.getByRole('heading', { name: /ui\/order/ }).waitFor();
      expect(new URL(shown.url()).pathname).toBe(`/ops/fleet/runs/${id}`);
      await shown.reload();
      await shown.getByRole('heading', { name: /ui\/order/ }).waitFor();
      await shown.getByText('Live', { exact: true }).waitFor();
      // Who still looks on keeps no app up that closes.
      const begunAt = performance.now();
      await app.close();
      expect(performance.now() - begunAt).toBeLessThan(20_000);
      await shown.close();
      // That nobody answers any more it was right to say.
      complaints.length = 0;
    } finally {
      await app.close();
      await stage.stop();
    }
  });
});

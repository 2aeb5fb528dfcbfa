/** How the pages are served: which files, under which rules, wherever they begin; and how large. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fleetAdmin } from '../../src/admin/plugin.ts';
import { openStage, program, type Stage, TEST_MS_MAX, useBrowser, useTempDirs } from './stage.ts';

const newDir = useTempDirs();
const built = fileURLToPath(new URL('../../dist/admin-ui/', import.meta.url));
const page = readFileSync(`${built}index.html`, 'utf8');

/** As it is typed: fetch would clean it up. */
function ask(url: string, path: string, method = 'GET', accept = 'text/html,*/*') {
  const { hostname, port } = new URL(url);
  type Told = { status: number; headers: Record<string, unknown>; text: string };
  return new Promise<Told>((resolve, reject) => {
    const sent = request(
      { hostname, port, path, method, headers: { accept }, agent: false },
      async (answer) => {
        let text = '';
        for await (const chunk of answer.setEncoding('utf8')) text += chunk;
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
      },
    );
    sent.on('error', reject).end();
  });
}

describe('the files', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(newDir());
  });
  afterAll(() => stage?.stop());

  test('nothing is inline, and everything is below where the page begins', () => {
    expect(page).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
    for (const [, address] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
      expect(address).toMatch(/^\.\//);
    }
  });

  test('the document is never kept, and assets are for good; both have a strict policy', async () => {
    const asset = /src="\.(\/assets\/[^"]+)"/.exec(page)![1]!;
    const document = await ask(stage.url, '/');
    expect(document.headers['cache-control']).toBe('no-store');
    const script = await ask(stage.url, asset);
    expect(script.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'x-content-type-options': 'nosniff',
    });
    for (const { headers } of [document, script]) {
      const policy = `${headers['content-security-policy']}`;
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
    }
    const head = await ask(stage.url, asset, 'HEAD');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  test('a page of the app knows how deep it is', async () => {
    const baseOf = async (path: string) =>
      /<base href="([^"]+)"/.exec((await ask(stage.url, path)).text)?.[1];
    expect(await baseOf('/')).toBe('./');
    expect(await baseOf('/runs?q=status:failed')).toBe('./');
    expect(await baseOf('/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe('../');
    expect(await baseOf('/a/b/c')).toBe('../../');
  });

  test('no path leads to a file that is not on the list', async () => {
    for (const path of [
      '/assets/../../package.json',
      '/assets/..%2f..%2fpackage.json',
      '/assets/%2e%2e/%2e%2e/package.json',
      '/assets/....//package.json',
      '/assets/',
      '/assets/nothing.js',
      '/assets/__proto__',
      '/assets/index.html%00.js',
    ]) {
      const { status, text } = await ask(stage.url, path);
      expect({ path, isFile: text.includes('"devDependencies"') }).toEqual({ path, isFile: false });
      expect({ path, status }).toEqual({ path, status: path.includes('%00') ? status : 404 });
    }
    const climbing = await ask(stage.url, '/../../etc/passwd');
    expect(climbing.text).not.toContain('root:');
  });

  test('what the API has not is a problem, and no page', async () => {
    for (const path of ['/api/v1/nothing', '/api/v2/runs', '/api']) {
      const { status, headers } = await ask(stage.url, path);
      expect({ path, status }).toEqual({ path, status: 404 });
      expect(headers['content-type']).toBe('application/problem+json');
    }
    const { status } = await ask(stage.url, '/runs', 'POST');
    expect(status).toBe(404);
    // A program that has left the prefix out is told so.
    const left = await ask(stage.url, '/runs', 'GET', '*/*');
    expect([left.status, left.headers['content-type']]).toEqual([404, 'application/problem+json']);
    expect((await ask(stage.url, '/', 'GET', '*/*')).status).toBe(200);
  });
});

test('the pages are small: 150 kB of script at first, 220 kB in all, zipped', () => {
  // As people get them: the build that a test runner asks for has React with its warnings.
  const directory = newDir();
  const vite = fileURLToPath(new URL('../../node_modules/vite/bin/vite.js', import.meta.url));
  const asked = [vite, 'build', 'admin-ui', '--outDir', directory, '--logLevel', 'error'];
  execFileSync(process.execPath, asked, { env: { ...process.env, NODE_ENV: 'production' } });
  const shipped = readFileSync(join(directory, 'index.html'), 'utf8');
  const assets = readdirSync(join(directory, 'assets'));
  const sizeOf = (name: string) => gzipSync(readFileSync(join(directory, 'assets', name))).length;
  const first = assets.filter((name) => name.endsWith('.js') && shipped.includes(name));
  const sum = (names: readonly string[]) => names.reduce((all, name) => all + sizeOf(name), 0);
  expect(first.length).toBeGreaterThan(0);
  expect(sum(first)).toBeLessThan(150 * 1_024);
  expect(sum(assets)).toBeLessThan(220 * 1_024);
});

describe.skipIf(program === undefined)(
  'in an app of somebody else',
  { timeout: TEST_MS_MAX },
  () => {
    const open = useBrowser();

    test('the pages begin where the plugin was registered, and find their API there', async () => {
      const stage = await openStage(newDir());
      const app = Fastify();
      app.get('/', async () => 'mine');
      await app.register(fleetAdmin(stage.fleet, { pages: true }), { prefix: '/ops/fleet' });
      const url = await app.listen({ port: 0, host: '127.0.0.1' });
      try {
        expect((await ask(url, '/')).text).toBe('mine');
        expect((await ask(url, '/ops/fleet')).headers['location']).toBe('/ops/fleet/');
        expect((await ask(url, '/ops/fleet/api/v1/nothing')).status).toBe(404);
        expect((await ask(url, '/ops/fleet/api/nothing')).status).toBe(404);
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
        await shown.context().close();
        // That nobody answers any more it was right to say.
        complaints.length = 0;
      } finally {
        await app.close();
        await stage.stop();
      }
    });
  },
);

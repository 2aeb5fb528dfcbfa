/** How the pages are served: which files, under which rules, wherever they begin; and how large. */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useTempDirs } from '../support/temp-dir.ts';
import { openStage, type Stage } from './stage.ts';

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
  // What React says to its developers does not fit into that.
  const assets = readdirSync(`${built}assets`);
  const sizeOf = (name: string) => gzipSync(readFileSync(`${built}assets/${name}`)).length;
  const first = assets.filter((name) => name.endsWith('.js') && page.includes(name));
  const sum = (names: readonly string[]) => names.reduce((all, name) => all + sizeOf(name), 0);
  expect(first.length).toBeGreaterThan(0);
  expect(sum(first)).toBeLessThan(150 * 1_024);
  expect(sum(assets)).toBeLessThan(220 * 1_024);
});

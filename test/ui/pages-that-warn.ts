/**
 * The same pages built with React's warnings, which it prints as errors: a list without keys, an effect
 * that is not cleaned up. They come from the address of the real server, under its policy.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const VITE = fileURLToPath(new URL('../../node_modules/vite/bin/vite.js', import.meta.url));

export function buildPagesThatWarn(directory: string): void {
  const asked = ['build', 'admin-ui', '--mode', 'development', '--outDir', directory];
  execFileSync(process.execPath, [VITE, ...asked, '--logLevel', 'error']);
}

/** From now on `page` is given the files of `directory`, and everything else as it is. */
export async function serveInstead(page: Page, directory: string): Promise<void> {
  const assets = new Set(readdirSync(join(directory, 'assets')));
  const built = readFileSync(join(directory, 'index.html'), 'utf8');
  await page.route(/./, async (route) => {
    const request = route.request();
    if (request.resourceType() === 'document') {
      const answer = await route.fetch();
      const [base = ''] = /<base [^>]*>/.exec(await answer.text()) ?? [];
      await route.fulfill({ response: answer, body: built.replace(/<base [^>]*>/, base) });
      return;
    }
    const name = new URL(request.url()).pathname.split('/').at(-1)!;
    if (!request.url().includes('/assets/')) await route.fallback();
    else if (assets.has(name)) await route.fulfill({ path: join(directory, 'assets', name) });
    else await route.fulfill({ status: 404, body: '' });
  });
}

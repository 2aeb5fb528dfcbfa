/** What axe finds on a page, and what sticks out of it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Found {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly {
      readonly html: string;
      readonly any: readonly { message: string }[];
    }[];
  }[];
}

/** Said of a page as it is now; nothing where there is nothing to complain of. */
export async function judge(what: string, page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const asked = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)} })`;
  const { violations } = (await page.evaluate(asked)) as Found;
  const said = violations.map(
    ({ id, nodes }) => `${what}: ${id}: ${nodes[0]?.html} ${nodes[0]?.any[0]?.message ?? ''}`,
  );
  const wide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  return wide > 0 ? [...said, `${what}: ${wide} pixels stick out`] : said;
}

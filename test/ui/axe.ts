/** What axe finds on a page, and what sticks out of it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What passed is not asked for: a whole answer takes longer to tell than to find. */
const ASKED = `axe.run(document, ${JSON.stringify({ runOnly: TAGS, resultTypes: ['violations'] })})
  .then(({ violations }) => violations.map(({ id, nodes: [first] }) =>
    id + ': ' + first.html + ' ' + (first.any[0]?.message ?? '')))`;
const PAINTED = 'new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))';

/** Said of a page as it is now; nothing where there is nothing to complain of. */
export async function judge(what: string, page: Page): Promise<string[]> {
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(axe);
  const violations = (await page.evaluate(ASKED)) as string[];
  const said = violations.map((violation) => `${what}: ${violation}`);
  const wide = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  return wide > 0 ? [...said, `${what}: ${wide} pixels stick out`] : said;
}

/** The same in both themes, at three widths; the page is left light and wide, as it was opened. */
export async function judgeAll(what: string, page: Page): Promise<string[]> {
  const said: string[] = [];
  for (const width of [390, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(PAINTED);
      said.push(...(await judge(`${what}, ${colorScheme}, ${width} px`, page)));
    }
  }
  return said;
}

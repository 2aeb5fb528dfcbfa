/**
 * npm run screenshots [-- --to=DIR --only=NAME,NAME]: pictures of every page, light and dark, of a fleet that was killed,
 * drained and failing. Which pages there are is told by the navigation.
 */
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from '../../support/chromium.ts';
import { openShotFleet } from './fleet.ts';
import { smaller } from './png.ts';

const BYTES_MAX = 150 * 1_024;
const SETTLE_MS = 1_500;
const flag = (name: string) =>
  process.argv.find((argument) => argument.startsWith(name))?.slice(name.length);
const given = flag('--to=');
const only = flag('--only=')?.split(',');
const to = given ?? fileURLToPath(new URL('../../../docs/images/', import.meta.url));

/** What shows most of a page. */
const SHOWN: Readonly<Record<string, string>> = { '/overview': '?w=5m', '/pods': '?all=true' };

interface Place {
  readonly name: string;
  readonly path: string;
  /** Pressed before the picture is taken. */
  readonly keys?: readonly string[];
}

async function placesOf(page: Page, url: string): Promise<Place[]> {
  await page.goto(`${url}/runs`);
  const links = page.locator('nav[aria-label="Pages"] li a');
  await links.first().waitFor();
  const paths = await links.evaluateAll((all) =>
    all.map((link) => new URL((link as never as { href: string }).href).pathname),
  );
  return paths.map((path) => ({ name: path.slice(1), path: path + (SHOWN[path] ?? '') }));
}

async function shoot(page: Page, url: string, { name, path, keys }: Place): Promise<void> {
  await page.goto(url + path);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  for (const key of keys ?? []) await page.keyboard.press(key);
  await page.waitForTimeout(SETTLE_MS);
  const file = join(to, `${name}.png`);
  const taken = await page.screenshot({ animations: 'disabled' });
  writeFileSync(file, taken.length > BYTES_MAX ? smaller(taken) : taken);
  const { size } = statSync(file);
  process.stderr.write(`${file} ${Math.round(size / 1_024)} kB\n`);
  if (size > BYTES_MAX) throw new Error(`${file} is larger than ${BYTES_MAX} bytes`);
}

async function newestOf(url: string, status: string): Promise<string> {
  const filter = encodeURIComponent(`machine:webhook/deliver status:${status}`);
  const found = await fetch(`${url}/api/v1/runs?limit=1&filter=${filter}`);
  return ((await found.json()) as { runs: { id: string }[] }).runs[0]!.id;
}

const isWanted = ({ name }: Place) => only === undefined || only.includes(name);

const program = findChromium();
if (program === undefined) throw new Error('pictures need Chromium');
mkdirSync(to, { recursive: true });
const fleet = await openShotFleet();
const browser = await chromium.launch({ executablePath: program, args: CHROMIUM_ARGS });
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    const wide = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme });
    const places = await placesOf(wide, fleet.url);
    const { pods } = (await (await fetch(`${fleet.url}/api/v1/pods`)).json()) as {
      pods: { pod: string }[];
    };
    const [good, bad] = await Promise.all(
      ['completed', 'failed'].map((status) => newestOf(fleet.url, status)),
    );
    const more: Place[] = [
      { name: 'run-failed', path: `/runs/${fleet.runs.failed}` },
      { name: 'run-rescued', path: `/runs/${fleet.runs.rescued}` },
      { name: 'compare', path: `/compare?a=${good}&b=${bad}` },
      { name: 'dead-letter', path: `/dead-letters?at=${fleet.runs.failed}` },
      { name: 'palette', path: '/overview?w=5m', keys: ['Control+k'] },
      { name: 'error', path: `/errors/${fleet.fingerprint}` },
      { name: 'bulk-operation', path: `/bulk/${fleet.bulk}` },
      { name: 'machine', path: '/machines/image%2Fpull' },
      { name: 'pod', path: `/pods/${pods[0]!.pod}` },
      { name: 'throttle', path: '/throttles/model' },
      { name: 'schedule', path: '/schedules/nightly-report' },
    ];
    for (const place of [...places, ...more].filter(isWanted)) {
      await shoot(wide, fleet.url, { ...place, name: `${place.name}-${colorScheme}` });
    }
    const narrow = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme });
    const [runs] = places.filter(({ path }) => path === '/runs');
    if (isWanted(runs!))
      await shoot(narrow, fleet.url, { ...runs!, name: `runs-narrow-${colorScheme}` });
    if (given !== undefined) {
      for (const place of [...places, ...more].filter(isWanted)) {
        await shoot(narrow, fleet.url, { ...place, name: `${place.name}-narrow-${colorScheme}` });
      }
    }
    await Promise.all([wide.close(), narrow.close()]);
  }
} finally {
  await browser.close();
  await fleet.stop();
}

/**
 * What people wait for in a browser, over a million runs and a run with 50,000 records: until rows are
 * there, until a run is open, and whether a page stutters while it is scrolled. In a real Chromium.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { AdminServer, addressDoor, deskOf } from '../src/admin/index.ts';
import { systemClock, systemRandom } from '../src/ground/index.ts';
import { createFleet } from '../src/index.ts';
import { CHROMIUM_ARGS, findChromium } from '../test/support/chromium.ts';
import { removeTree } from '../test/support/remove-tree.ts';
import { say } from './child.ts';
import { quantile } from './fleet.ts';
import { BenchDatabase } from './fleet-pods.ts';
import { VoidError } from './takeover-fleet.ts';
import { fillForPages, LONG_RUN } from './ui-store.ts';

export interface UiOptions {
  readonly rows: number;
  readonly events: number;
  /** How often each page is opened anew. */
  readonly rounds: number;
}

const WHOLE: UiOptions = { rows: 1_000_000, events: 50_000, rounds: 5 };
const PATIENCE_MS = 120_000;
const [WHEEL_STEPS, WHEEL_PIXELS, WHEEL_EVERY_MS] = [60, 400, 30];
const MARGINS = { firstRowsMs: 1_000, openRunMs: 1_500, longTaskMs: 100 };

const WANTED = { blank: 'main.alone h1', rows: 'tbody tr[data-index]', run: '.log tr[data-type]' };

type What = keyof typeof WANTED;

/** Notes when something first is on the page, and every task that holds it up. */
const WATCHER = `
  globalThis.seen = {};
  globalThis.tasks = [];
  const wanted = ${JSON.stringify(WANTED)};
  const look = () => {
    for (const [name, selector] of Object.entries(wanted)) {
      if (!(name in seen) && document.querySelector(selector)) seen[name] = performance.now();
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) tasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });`;

export async function benchUi(given: UiOptions = WHOLE): Promise<object> {
  const program = findChromium();
  if (program === undefined) throw new VoidError('there is no Chromium');
  const database = await BenchDatabase.start();
  const dataDir = mkdtempSync(join(tmpdir(), 'fleetq-bench-ui-'));
  try {
    await fillForPages(database, given.rows, given.events);
    say(`${given.rows} runs, and one with ${given.events} records`);
    const [clock, random] = [systemClock, systemRandom];
    const served = { machines: [], store: database.url, isClient: true, socket: false } as const;
    const fleet = await createFleet({ ...served, dataDir });
    const server = new AdminServer(
      deskOf({ fleet, clock, random, resultBytesMax: 1_000_000, redacted: [] }),
    );
    const door = addressDoor({ grants: [], clock, random, rate: { perSecond: 1e6, burst: 1e6 } });
    const url = `http://${await server.listen('127.0.0.1', 0, door)}`;
    const browser = await chromium.launch({ executablePath: program, args: CHROMIUM_ARGS });
    try {
      return { rows: given.rows, events: given.events, ...(await measure(browser, url, given)) };
    } finally {
      await browser.close();
      await server.stop();
      await fleet.drain();
    }
  } finally {
    await database.stop();
    removeTree(dataDir);
  }
}

async function measure(browser: Browser, url: string, { rounds, events }: UiOptions) {
  // What no page can be faster than: our files, and nothing asked of the store.
  const blankMs: number[] = [];
  const [rowsMs, runMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    blankMs.push(await opened(browser, `${url}/no-such-page`, 'blank'));
    rowsMs.push(await opened(browser, `${url}/runs`, 'rows'));
    runMs.push(await opened(browser, `${url}/runs/${LONG_RUN}`, 'run'));
  }
  const list = await scrolled(browser, `${url}/runs`, 'rows', '.table-scroll');
  // At once, while its records still pour in, and when the last one is there.
  const pouring = await scrolled(browser, `${url}/runs/${LONG_RUN}`, 'run', '.log');
  const log = await scrolled(browser, `${url}/runs/${LONG_RUN}`, 'run', '.log', events + 1);
  const figures = {
    blankMs: { p50: quantile(blankMs, 0.5), max: Math.max(...blankMs) },
    firstRowsMs: { p50: quantile(rowsMs, 0.5), max: Math.max(...rowsMs) },
    openRunMs: { p50: quantile(runMs, 0.5), max: Math.max(...runMs) },
    list,
    pouring,
    log,
  };
  const longest = Math.max(...[list, pouring, log].map(({ longestTaskMs }) => longestTaskMs));
  return {
    ...figures,
    margins: MARGINS,
    isMet:
      figures.firstRowsMs.p50 < MARGINS.firstRowsMs &&
      figures.openRunMs.p50 < MARGINS.openRunMs &&
      longest <= MARGINS.longTaskMs,
  };
}

async function pageAt(browser: Browser, url: string, what: What): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript(WATCHER);
  await page.goto(url);
  await page.locator(WANTED[what]).first().waitFor({ state: 'attached' });
  return page;
}

/** In a context of its own: nothing is in its cache. */
async function opened(browser: Browser, url: string, what: What): Promise<number> {
  const page = await pageAt(browser, url, what);
  const ms = Math.round(Number(await page.evaluate(`seen.${what}`)));
  say(`${what}: ${ms} ms`);
  await page.context().close();
  return ms;
}

async function scrolled(
  browser: Browser,
  url: string,
  what: What,
  selector: string,
  rowsWanted = 0,
) {
  const page = await pageAt(browser, url, what);
  const count = () =>
    page.evaluate(`Number(document.querySelector('${selector} table').ariaRowCount)`);
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (rowsWanted > 0 && Number(await count()) < rowsWanted) {
    if (performance.now() > giveUpAt)
      throw new VoidError(`${await count()} of ${rowsWanted} rows came`);
    await page.waitForTimeout(100);
  }
  const top = () => page.evaluate(`document.querySelector('${selector}').scrollTop`);
  const from = Number(await top());
  // Where the end is shown, back from it.
  const direction = from > 0 ? -1 : 1;
  const box = (await page.locator(selector).boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + Math.min(200, box.height / 2));
  const since = Number(await page.evaluate('performance.now()'));
  for (let step = 0; step < WHEEL_STEPS; step++) {
    await page.mouse.wheel(0, direction * WHEEL_PIXELS);
    await page.waitForTimeout(WHEEL_EVERY_MS);
  }
  const tasks = (await page.evaluate(
    `tasks.filter(({ startTime }) => startTime >= ${since}).map(({ duration }) => duration)`,
  )) as number[];
  const pixels = Math.abs(Number(await top()) - from);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('HeapProfiler.collectGarbage');
  const { metrics } = await cdp
    .send('Performance.enable')
    .then(() => cdp.send('Performance.getMetrics'));
  const heapBytes = metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
  await page.context().close();
  const told = {
    pixels,
    longTasks: tasks.length,
    longestTaskMs: Math.round(Math.max(0, ...tasks)),
    heapMb: Math.round(heapBytes / 1_048_576),
  };
  say(`${selector}: ${JSON.stringify(told)}`);
  return told;
}

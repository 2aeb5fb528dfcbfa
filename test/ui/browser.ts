/** A browser that looks at a stage, and collects what goes wrong on its pages. */
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';
import type { Stage } from './stage.ts';

const address = inject('browserAddress');
if (address === undefined) throw new Error('test/support/one-browser.ts has not run before this');

export const hasBrowser = address !== '';
/** A limit against hanging, and no measure. */
export const PATIENCE_MS = 90_000;
/** The same for a test, which takes many steps. */
export const TEST_MS_MAX = 600_000;
/** More than any beat of the pages. */
const LONG_MS = 30_000;
const SETTLE_MS = 50;
/** More places than any page has where Tab stops. */
const STOPS_MAX = 80;

export interface Watched {
  readonly page: Page;
  /** What no page may do: errors, broken policies, requests to others. */
  readonly complaints: string[];
  readonly requests: string[];
}

export interface OpenOptions extends BrowserContextOptions {
  /** The test may put the clock of the page forward. */
  readonly hasClock?: boolean;
  /** Before the page is loaded. */
  readonly prepare?: (page: Page) => Promise<unknown>;
}

const VIEWPORT = { width: 1440, height: 900 };

/**
 * The one browser of the run. The pages of a file share a context, since each context opens a window,
 * which takes longer than a page; after each test it forgets cookies and storage. A page with options
 * has a context of its own, and so has one with a clock: a context has one clock. What a page complained
 * of fails its test.
 */
export function useBrowser(): (
  stage: Stage,
  path: string,
  options?: OpenOptions,
) => Promise<Watched> {
  let browser: Browser | undefined;
  let shared: BrowserContext | undefined;
  const open: Watched[] = [];
  /** A route of the test may still hold a request. */
  const close = async (page: Page) => {
    if (page.isClosed()) return;
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.evaluate('localStorage.clear()');
    if (page.context() === shared) await page.close();
    else await page.context().close();
  };
  beforeAll(async () => {
    if (!hasBrowser) return;
    browser = await chromium.connect(address);
    shared = await browser.newContext({ viewport: VIEWPORT });
  });
  afterEach(async () => {
    const all = open.splice(0);
    for (const { page } of all) await close(page);
    await shared?.clearCookies();
    for (const page of shared?.pages() ?? []) await page.close();
    for (const { complaints } of all) expect(complaints).toEqual([]);
  });
  afterAll(() => browser?.close());
  return async (stage, path, { hasClock = false, prepare, ...options } = {}) => {
    const isOwn = hasClock || Object.keys(options).length > 0;
    const context = isOwn ? await browser!.newContext({ viewport: VIEWPORT, ...options }) : shared!;
    const page = await context.newPage();
    stage.beforeStop(() => close(page));
    page.setDefaultTimeout(PATIENCE_MS);
    const watched: Watched = { page, complaints: [], requests: [] };
    open.push(watched);
    await watch(watched, stage.url);
    if (hasClock) await page.clock.install();
    await prepare?.(page);
    await page.goto(stage.url + path);
    return watched;
  };
}

async function watch({ page, complaints, requests }: Watched, url: string): Promise<void> {
  page.on('pageerror', (error) => complaints.push(`page error: ${error.message}`));
  page.on('console', (message) => {
    // A refusal that the page shows to people is noted by the browser as well.
    const isRefusal = /Failed to load resource: .* (400|401|404|409|412|422)/.test(message.text());
    if (message.type() === 'error' && !isRefusal) complaints.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    requests.push(request.url());
    if (!request.url().startsWith(`${url}/`)) complaints.push(`off origin: ${request.url()}`);
  });
  page.on('dialog', async (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    await dialog.dismiss();
  });
  await page.exposeFunction('complain', (text: string) => complaints.push(text));
  await page.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    complain('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`);
}

/** Half a minute on a page that has a clock; when it is over, what the page asks for is under way. */
export async function passTime(page: Page): Promise<void> {
  await page.clock.runFor(LONG_MS);
  await page.evaluate(`new Promise((settled) => setTimeout(settled, ${SETTLE_MS}))`);
}

/** Presses Tab until what has the focus is called so: nobody needs a mouse for it. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let pressed = 0; pressed < STOPS_MAX; pressed++) {
    const at = await page.evaluate(
      `(document.activeElement?.getAttribute('aria-label') ?? '') + document.activeElement?.textContent`,
    );
    if (name.test(String(at))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`no Tab leads to ${name}`);
}

/** Scrolls through the table from where it is to its end; returns the text of all its rows. */
export async function textOfAllRows(page: Page): Promise<string> {
  const turn = `new Promise((seen) => {
    const frame = document.querySelector('.table-scroll');
    const isAtEnd = frame.scrollTop + frame.clientHeight >= frame.scrollHeight - 1;
    const text = frame.querySelector('tbody').textContent;
    frame.scrollTop += 700;
    requestAnimationFrame(() => requestAnimationFrame(() => seen({ isAtEnd, text })));
  })`;
  let all = '';
  for (let turns = 0; turns < 50; turns++) {
    const seen = (await page.evaluate(turn)) as { isAtEnd: boolean; text: string };
    all += seen.text;
    if (seen.isAtEnd) return all;
  }
  throw new Error('the table has no end');
}

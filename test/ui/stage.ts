/** A pod with runs of every kind, and a browser that looks at it and hears whatever goes wrong. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import * as z from 'zod';
import {
  AdminServer,
  addressDoor,
  deskOf,
  hashOfSecret,
  newSecret,
} from '../../src/admin/index.ts';
import type { Grant, Role } from '../../src/config/index.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import {
  createFleet,
  defineMachine,
  exponential,
  type Fleet,
  type Machine,
  openStore,
} from '../../src/index.ts';
import { CHROMIUM_ARGS, findChromium } from '../support/chromium.ts';
import { gate } from '../support/fleets.ts';
import { useTempDirs } from '../support/temp-dir.ts';

export const program = findChromium();
/** A browser on a busy machine may take its time. */
export const PATIENCE_MS = 90_000;
/** Of one test: many steps, each of which may wait. */
export const TEST_MS_MAX = 600_000;

const any = z.looseObject({});

function machines(opening: ReturnType<typeof gate<void>>) {
  const once = { attemptMax: 1, backoff: exponential('1ms') };
  return [
    defineMachine({
      name: 'ui/order',
      version: 1,
      input: any,
      check: () => undefined,
      work: ({ input }) => ({ ...input, total: 42 }),
      validate: () => undefined,
      persist: ({ work }) => work,
    }),
    defineMachine({
      name: 'ui/typed',
      version: 2,
      input: z.object({
        name: z.string().min(2).describe('who is greeted'),
        times: z.number().int().min(1).max(9),
        tone: z.enum(['warm', 'cool']).optional(),
        isLoud: z.boolean().default(false),
        more: z.array(z.string()).optional(),
      }),
      check: 'none',
      work: ({ input }) => `hello, ${input.name}`,
    }),
    defineMachine({
      name: 'ui/gated',
      version: 1,
      input: any,
      check: 'none',
      work: () => opening.opened.then(() => 'open'),
      persist: ({ work }) => work,
    }),
    defineMachine({
      name: 'ui/failing',
      version: 1,
      input: any,
      retry: once,
      check: 'none',
      work: ({ input }) => {
        const said = typeof input['said'] === 'string' ? input['said'] : 'no such bucket';
        throw new Error(said, { cause: new Error(`because of ${said}`) });
      },
    }),
    defineMachine({
      name: 'ui/strict',
      version: 1,
      input: z.strictObject({ n: z.number() }),
      retry: once,
      check: 'none',
      work: ({ input: { n } }) => {
        if (n < 0) throw new RangeError(`${n} is below zero`);
        return n;
      },
    }),
    defineMachine({
      name: 'ui/retrying',
      version: 1,
      input: any,
      retry: { attemptMax: 5, backoff: exponential('1h') },
      check: 'none',
      work: () => {
        throw new Error('the line is busy');
      },
    }),
  ];
}

export interface Stage {
  readonly fleet: Fleet;
  readonly server: AdminServer;
  readonly url: string;
  readonly opening: ReturnType<typeof gate<void>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Done before its server ends: whoever still looks on would complain of being refused. */
  beforeStop(act: () => Promise<void>): void;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly hasStore?: boolean;
  readonly machines?: readonly Machine[];
  readonly grants?: readonly (readonly [name: string, role: Role, mayReveal: boolean])[];
}

export async function openStage(dataDir: string, options: StageOptions = {}): Promise<Stage> {
  const [clock, random] = [systemClock, systemRandom];
  const opening = gate<void>();
  const store =
    options.hasStore === false
      ? {}
      : {
          store: await openStore(`sqlite:${join(dataDir, 'fleet.db')}`, {
            clock,
            random,
            migrates: true,
          }),
        };
  const fleet = await createFleet({
    machines: [...machines(opening), ...(options.machines ?? [])],
    dataDir,
    socket: false,
    archive: '50ms',
    heartbeat: '100ms',
    silence: '20s',
    ...store,
  });
  const secrets: Record<string, string> = {};
  const grants = (options.grants ?? []).map(([name, role, mayReveal]): Grant => {
    secrets[name] = newSecret(random);
    return { name, role, mayReveal, hash: hashOfSecret(secrets[name]) };
  });
  const desk = deskOf({ fleet, clock, random, resultBytesMax: 1_000_000, redacted: [] });
  const server = new AdminServer(desk);
  const rate = { perSecond: 1e6, burst: 1e6 };
  const at = await server.listen('127.0.0.1', 0, addressDoor({ grants, clock, random, rate }));
  const closing: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const close of closing.splice(0)) await close();
    opening.open();
    await server.stop();
    await fleet.drain();
  };
  const beforeStop = (act: () => Promise<void>) => void closing.push(act);
  return { fleet, server, url: `http://${at}`, opening, secrets, beforeStop, stop };
}

/** Waits until the run, or the bulk operation, stands like this. */
export async function until(
  stage: Stage,
  id: string,
  status: string,
  of: 'runs' | 'bulk' = 'runs',
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await fetch(`${stage.url}/api/v1/${of}/${id}`);
    const run = (await answer.json()) as { readonly status: string };
    if (run.status === status) return;
    if (performance.now() > giveUpAt) throw new Error(`run ${id} is ${run.status}, not ${status}`);
    await sleep(20);
  }
}

/** A change over the API; `as` says who asks, where that is asked. */
export async function post(
  stage: Stage,
  path: string,
  body: object,
  as: Readonly<Record<string, string>> = {},
): Promise<{ id: string }> {
  const headers = { 'content-type': 'application/json', ...as };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await fetch(`${stage.url}/api/v1${path}`, init)).json()) as { id: string };
}

/** Runs that have failed for good. */
export async function lettersOf(
  stage: Stage,
  count: number,
  input: object = {},
): Promise<string[]> {
  const made = Array.from({ length: count }, () => stage.fleet.enqueueByName('ui/failing', input));
  const ids = (await Promise.all(made)).map(({ id }) => id);
  for (const id of ids) await until(stage, id, 'failed');
  return ids;
}

/** Presses Tab until what has the focus is called so: nobody needs a mouse for it. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let pressed = 0; pressed < 30; pressed++) {
    const at = await page.evaluate(
      `(document.activeElement?.getAttribute('aria-label') ?? '') + document.activeElement?.textContent`,
    );
    if (name.test(String(at))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`no Tab leads to ${name}`);
}

export interface Watched {
  readonly page: Page;
  /** What no page may do: errors, broken policies, requests to others. */
  readonly complaints: string[];
  readonly requests: string[];
}

/** One browser for a file, a context for each page. */
export function useBrowser(): (
  stage: Stage,
  path: string,
  options?: BrowserContextOptions,
) => Promise<Watched> {
  let browser: Browser | undefined;
  const open: Watched[] = [];
  beforeAll(async () => {
    if (program === undefined) return;
    browser = await chromium.launch({ executablePath: program, args: CHROMIUM_ARGS });
  });
  afterEach(async () => {
    for (const { page, complaints } of open.splice(0)) {
      await page.context().close();
      expect(complaints).toEqual([]);
    }
  });
  afterAll(() => browser?.close());
  return async (stage, path, options = {}) => {
    const viewport = { width: 1440, height: 900 };
    const context = await browser!.newContext({ viewport, ...options });
    stage.beforeStop(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    const watched: Watched = { page, complaints: [], requests: [] };
    open.push(watched);
    await watch(watched, stage.url);
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

export { useTempDirs };

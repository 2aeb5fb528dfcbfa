/** One Chromium for all files of a run: started before the first of them, and given by its address. */
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { CHROMIUM_ARGS, findChromium } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where it is driven from; empty where this machine has none. */
    readonly browserAddress: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const program = findChromium();
  if (program === undefined) {
    project.provide('browserAddress', '');
    return async () => undefined;
  }
  const server = await chromium.launchServer({ executablePath: program, args: CHROMIUM_ARGS });
  project.provide('browserAddress', server.wsEndpoint());
  return () => server.close();
}

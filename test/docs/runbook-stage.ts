/**
 * A small fleet in which the commands of the runbooks are given: a pod that is up and leads, a task
 * that ended well and one that failed for good, and the variables that the pages speak of.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/postgres.ts';
import { type Ended, run, write } from './workspace.ts';

const MACHINE = `
import { defineMachine, exponential } from 'fleetq';
import * as z from 'zod';
export const greet = defineMachine({
  name: 'greet',
  version: 1,
  input: z.object({ name: z.string() }),
  retry: { attemptMax: 2, backoff: exponential('1ms') },
  check: 'none',
  work: async ({ input, use }) => {
    if (input.name === 'Mallory') throw new Error('we do not greet Mallory');
    return use('greetings', () => 'Hello, ' + input.name);
  },
});
`;
/** As much of curl as the pages use; not every host has it. */
const CURL = `#!/usr/bin/env node
const answer = await fetch(process.argv.at(-1));
process.stdout.write(await answer.text());
`;
const READY_MS_MAX = 90_000;

export interface Stage {
  /** Performs a block: every command of it, whatever those before it ended with. */
  perform(text: string): Promise<Ended>;
  readonly at: string;
  remove(): Promise<void>;
}

export async function setStage(workspace: string): Promise<Stage> {
  const directory = join(workspace, 'fleet');
  write(directory, 'machines/greet.mjs', MACHINE);
  write(directory, 'bin/curl.mjs', CURL);
  write(directory, 'bin/curl', `#!/bin/sh\nexec node "${join(directory, 'bin/curl.mjs')}" "$@"\n`);
  chmodSync(join(directory, 'bin/curl'), 0o755);
  const at = `127.0.0.1:${await freePort()}`;
  const env: Record<string, string> = {
    PATH: `${join(directory, 'bin')}:${join(workspace, 'node_modules/.bin')}:${process.env['PATH']}`,
    FLEETQ_STORE_URL: 'sqlite:./store/fleet.db',
    AT: at,
    DIR: '.fleetq',
    MACHINE: 'greet',
    POD: 'alder',
    API: 'greetings',
  };
  const shell = (text: string) => run(directory, 'bash', ['-uo', 'pipefail', '-c', text], env);
  await shell('fleetq migrate up');
  const worker = spawn('fleetq', ['worker', '--pod-name', 'alder', '--health-listen', at], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  await untilReady(at, worker);
  await shell(`fleetq enqueue greet --input '{"name":"Ada"}' --wait`);
  await shell(`fleetq enqueue greet --input '{"name":"Mallory"}' --wait`);
  const { stdout, stderr } = await shell('fleetq dead-letters list');
  const task = stdout.split('\t')[0] ?? '';
  if (task === '') throw new Error(`no dead letter: ${stderr}`);
  env['TASK'] = task;
  return {
    at,
    perform: (text) => shell(`trap 'echo "exit $? of $BASH_COMMAND" >&2' ERR\n${text}\ntrue`),
    remove: () => end(worker),
  };
}

async function untilReady(at: string, worker: ChildProcess): Promise<void> {
  const giveUpAt = performance.now() + READY_MS_MAX;
  for (;;) {
    const isReady = await fetch(`http://${at}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (worker.exitCode !== null || performance.now() > giveUpAt) {
      await end(worker);
      throw new Error('the pod was never ready');
    }
    await sleep(50);
  }
}

async function end(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null) return;
  const ended = once(worker, 'exit');
  worker.kill('SIGKILL');
  await ended;
}

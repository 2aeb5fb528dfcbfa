/** A store in a file, and pods that share it as processes. Commands run in the process of the test. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { fleetq, type Ended as Told } from './in-process.ts';
import { begin, type Call, type Ended, MACHINES, makeDirectory } from './support.ts';

/** Short enough to be waited for. */
export const TIMES = {
  FLEETQ_HEARTBEAT: '200ms',
  FLEETQ_SILENCE: '1s',
  FLEETQ_ARCHIVE: '100ms',
};

export interface Place {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** `fleetq …` to its end, with the store configured. */
  run(...args: string[]): Promise<Told>;
  /** The same with --json, which has to succeed. */
  json<T = { readonly task: string }>(...args: string[]): Promise<T>;
  /** `fleetq worker …` as a process, once it is up. */
  worker(...args: string[]): Promise<Call & { readonly ready: Readonly<Record<string, unknown>> }>;
}

export async function makePlace(address?: string): Promise<Place> {
  const cwd = makeDirectory();
  const store = address ?? `sqlite:${join(cwd, 'store', 'fleet.db')}`;
  const env = { FLEETQ_STORE_URL: store, FLEETQ_MACHINES: MACHINES, ...TIMES };
  const run = (...args: string[]) => fleetq(cwd, args, { env });
  const place: Place = {
    cwd,
    env,
    run,
    json: async (...args) => {
      const ended = await run(...args, '--json');
      expect(ended.code, ended.stderr).toBe(0);
      return JSON.parse(ended.stdout) as never;
    },
    worker: async (...args) => {
      const quiet = { ...env, FLEETQ_LOG_LEVEL: 'silent' };
      const options = { cwd, env: quiet, timeoutMs: 60_000 };
      const call = begin(['worker', '--json', ...args], options);
      const [line] = await call.said(/^\{.*"kind":"ready".*\}$/m);
      return { ...call, ready: JSON.parse(line) };
    },
  };
  const options = { clock: systemClock, random: systemRandom, migrates: true };
  await (await openStore(store, options)).close();
  return place;
}

/** Drained by SIGTERM, with nothing to complain about. */
export async function end(call: Call): Promise<Ended> {
  call.child.kill('SIGTERM');
  const ended = await call.ended;
  expect(ended.code, ended.stderr).toBe(0);
  return ended;
}

/** `fleetq dev` and code that changes under it: real pods, real files, saved well and badly. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fleetq } from './in-process.ts';
import { begin, type Call, fileAppears, makeDirectory } from './support.ts';
import { makeProject } from './talk-project.ts';

/** Some ten processes are started one after the other, on a host that may be busy. */
const PATIENCE_MS = 150_000;
const STORE = ['--store', 'sqlite:.fleetq/fleet.db'];

async function talk(cwd: string, input: object = {}): Promise<string[]> {
  const machines = { FLEETQ_MACHINES: join(cwd, 'machines') };
  const args = ['enqueue', 'talk', '--input', JSON.stringify(input), '--wait', ...STORE];
  const done = await fleetq(cwd, args, { env: machines });
  expect(done.code, done.stderr).toBe(0);
  return JSON.parse(done.stdout);
}

async function devIn(cwd: string): Promise<Call> {
  // Nobody is to be taken for dead here, however busy the host is.
  const env = { FLEETQ_LOG_LEVEL: 'error' };
  const dev = begin(['dev', '--silence', '60s'], { cwd, env, timeoutMs: PATIENCE_MS });
  await dev.said(/(pod-\d up after[\s\S]*){3}/);
  return dev;
}

test('code that is saved goes to the pods, and a run in hand goes on with it; bad code changes nothing', {
  timeout: PATIENCE_MS,
}, async () => {
  const { cwd, say, save } = makeProject(makeDirectory());
  const dev = await devIn(cwd);
  expect(await talk(cwd)).toEqual(['first', 'first']);
  const wait = join(cwd, 'gate');
  const inHand = talk(cwd, { gate: wait });
  expect(await fileAppears(`${wait}.in`)).toBe('first');
  say('second');
  await dev.said(/word\.mjs changed: it goes to the pods/);
  // Whoever has it in hand cannot hand over before this.
  writeFileSync(wait, '');
  // The phase in hand is done once, by the code before; which pod gets the next one is nobody's promise.
  expect((await inHand)[0]).toBe('first');
  await dev.said(/pod-\d has drained \(process \d+\); process \d+ takes over/);
  await dev.said(/all 3 pods have the new code after/);
  expect(await talk(cwd)).toEqual(['second', 'second']);

  save('export const broken = ;');
  await dev.said(
    /not deployed, the pods go on as they were: machines\/talk\.mjs cannot be loaded: /,
  );
  dev.child.kill('SIGTERM');
  const { code, stderr, stdout } = await dev.ended;
  expect(code).toBe(0);
  expect(stderr).toMatch(/lost 0, doubled 0 of 3 acknowledged/);
  expect(stdout.match(/has drained/g)).toHaveLength(3);
});

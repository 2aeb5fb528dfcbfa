/** events --trace: of runs that were cut off, retried, asleep, stubborn, and of a fleet. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fileAppears } from './file-appears.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace, pod } = usePlaces();

const STUBBORN = fileURLToPath(new URL('trace-machines', import.meta.url));
const SECRET = 'canary-7f3a';
const UTF8 = { LC_ALL: 'C.UTF-8' };

interface Item {
  readonly kind: string;
  readonly [name: string]: unknown;
}
interface Data {
  readonly traceId: string;
  readonly outcome?: string;
  readonly totalMs: number;
  readonly lostMs: number;
  readonly waitingMs: number;
  readonly steps: readonly { readonly step: string; readonly items: readonly Item[] }[];
}

async function dataOf(cwd: string, id: string, ...more: string[]): Promise<Data> {
  const { stdout, stderr, code } = await fleetq(cwd, ['events', id, '--trace', '--json', ...more]);
  expect(code, stderr).toBe(0);
  expect(stdout).not.toContain(SECRET);
  return JSON.parse(stdout) as Data;
}

async function treeOf(cwd: string, id: string, ...more: string[]): Promise<string> {
  const { stdout, stderr, code } = await fleetq(cwd, ['events', id, '--trace', ...more], {
    env: UTF8,
  });
  expect(code, stderr).toBe(0);
  expect(stdout).not.toContain(SECRET);
  return stdout;
}

const brief = ({ items }: { readonly items: readonly Item[] }) =>
  items.map(({ kind, phase, attempt, outcome, what }) =>
    kind === 'attempt' ? `${phase} ${attempt} ${outcome}` : (what ?? kind),
  );

test('a run whose process was cut off shows the crash, and who went on, from process and file', async () => {
  const cwd = makeDirectory();
  const gate = join(cwd, SECRET);
  const first = await pod(cwd);
  const started = await fleetq(cwd, ['start', 'test/gated', '--input', JSON.stringify({ gate })]);
  const id = started.stdout.trim();
  await fileAppears(`${gate}.in`);
  const open = await dataOf(cwd, id);
  expect(open.steps.map(brief)).toEqual([['work 1 open']]);
  first.stopNow();
  writeFileSync(gate, '');
  const second = await pod(cwd);
  expect((await fleetq(cwd, ['events', id, '--follow'])).stdout).toContain('completed');

  const data = await dataOf(cwd, id);
  expect(data.steps.map(brief)).toEqual([
    ['work 1 crashed', 'restarted', 'work 2 done', 'persist 2 done'],
  ]);
  expect(data).toMatchObject({
    outcome: 'completed',
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(data.lostMs).toBe(
    data.steps[0]!.items.map(({ endedAt, beganAt }) => Number(endedAt) - Number(beganAt))[0],
  );
  const tree = await treeOf(cwd, id);
  expect(tree).toMatch(/^├─ work {2}CRASHED .*≤ \d.* ▒+/m);
  expect(tree).toMatch(/^├─ ▲ gone on by the next process/m);
  expect(tree).toMatch(/^└─ persist #2/m);
  await second.drain();
  expect(await treeOf(cwd, id)).toBe(tree);
});

test('what is retried, what sleeps, and 300 attempts that went the same way', async () => {
  const cwd = makeDirectory();
  const input = ['--input', JSON.stringify({ secret: SECRET }), '--wait', '--json'];
  const env = { FLEETQ_MACHINES: STUBBORN };
  const retried = await fleetq(cwd, ['start', 'test/patient', ...input], { env });
  const patient = JSON.parse(retried.stdout).id as string;
  const tree = await treeOf(cwd, patient);
  expect(tree).toMatch(/^test\/patient@1 {2}completed after/);
  expect(tree).toMatch(
    /^├─ work {2}failed TypeError .*[█▏]\n├─ waits to try again .*─\n└─ work #2 /m,
  );
  expect(tree).not.toContain('no luck');
  expect((await dataOf(cwd, patient)).waitingMs).toBeGreaterThan(50);

  const done = await fleetq(cwd, ['start', 'test/stubborn', ...input], { env });
  const stubborn = JSON.parse(done.stdout).id as string;
  const long = await treeOf(cwd, stubborn);
  expect(long).toMatch(/^├─ … 295 more attempts like this /m);
  expect(long).toMatch(/^└─ work #300 /m);
  expect(long.split('\n').length).toBeLessThan(30);
  const [step] = (await dataOf(cwd, stubborn)).steps;
  expect(step!.items.filter(({ phase }) => phase === 'work')).toHaveLength(300);
  expect(step!.items.filter(({ phase }) => phase === 'probe')).toHaveLength(299);

  await pod(cwd);
  const started = await fleetq(cwd, ['start', 'test/sleeping', '--input', '{}']);
  const asleep = started.stdout.trim();
  const shown = () => fleetq(cwd, ['run', asleep, '--json']);
  await expect.poll(async () => JSON.parse((await shown()).stdout).status).toBe('waiting');
  const sleeping = await dataOf(cwd, asleep);
  expect(sleeping.steps.map(brief)).toEqual([['work 1 done'], ['sleep 1 open']]);
  expect(sleeping.outcome).toBeUndefined();
  expect(await treeOf(cwd, asleep)).toMatch(/^ {3}└─ sleep {2}until \d\d-\d\d \d\d:\d\d:\d\d /m);
});

test('a task that another pod took over is told from the archive, where no journal is', async () => {
  const place = await makePlace({ FLEETQ_SILENCE: '1s' });
  const gate = join(place.cwd, SECRET);
  const at = (name: string) => ({ dataDir: name, podName: name });
  const { task } = await place.json('enqueue', 'test/gated', '--input', JSON.stringify({ gate }));
  const pending = await place.run('events', task, '--trace');
  expect([pending.code, pending.stdout]).toEqual([3, '']);
  expect(pending.stderr).toContain('has no records');

  const alder = await place.pod(at('alder'));
  await fileAppears(`${gate}.in`);
  // What the archive does not have, nobody else can know.
  await expect.poll(async () => (await place.run('events', task)).stdout).toContain('STARTED');
  await place.pod(at('birch'));
  alder.stopNow();
  writeFileSync(gate, '');
  expect((await place.run('wait', task, '--timeout', '20s')).code).toBe(0);

  const { code, stdout } = await fleetq(place.cwd, ['events', task, '--trace'], {
    env: { ...place.env, ...UTF8, COLUMNS: '100' },
  });
  expect(code).toBe(0);
  expect(stdout).not.toContain(SECRET);
  expect(stdout).toMatch(/^pods {4}A \w{26}.*\n {8}B \w{26} birch$/m);
  expect(stdout).toMatch(/^├─ work {2}CRASHED +A +≤ .*▒/m);
  expect(stdout).toMatch(/^├─ ▲ taken over by pod B +B/m);
  expect(stdout).toMatch(/^├─ work #2 +B/m);
  const data = await place.json<Data>('events', task, '--trace');
  expect(data.steps.map(brief)).toEqual([
    ['work 1 crashed', 'taken', 'work 2 done', 'persist 2 done'],
  ]);
});

test('--trace does not go with --follow or --after, and an unknown run is said to be one', async () => {
  const cwd = makeDirectory();
  const id = '01JCQ8Z0000000000000000000';
  for (const more of [['--follow'], ['--after', '3']]) {
    const ended = await fleetq(cwd, ['events', id, '--trace', ...more]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain(`does not go with ${more[0]}`);
  }
  expect((await fleetq(cwd, ['events', id, '--trace'])).code).toBe(3);
});

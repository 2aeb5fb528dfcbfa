/** `fleetq plan` and `fleetq machines`: what becomes of runs, said beforehand; nothing is written. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { fileAppears } from './file-appears.ts';
import { fleetq, type Place, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace, pod } = usePlaces();

/** A machine in a file of its own: `ship` in one version, of these steps. */
function codeOf(version: number, steps: readonly string[], more = ''): string {
  const directory = makeDirectory();
  const line = steps.map((step) =>
    step === 'rest'
      ? `.sleep('rest', '1h')`
      : `.step('${step}', { check: () => undefined, work: pass('${step}') })`,
  );
  const root = fileURLToPath(new URL('../../src/index.ts', import.meta.url));
  writeFileSync(
    join(directory, 'ship.mjs'),
    `import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineMachine } from '${root}';
import * as z from '${import.meta.resolve('zod')}';
const pass = (step) => async ({ input }) => {
  if (input.gate === undefined || !input.gate.endsWith(step)) return step;
  writeFileSync(input.gate + '.in', 'in');
  while (!existsSync(input.gate)) await sleep(5);
  return step;
};
export const ship = defineMachine({
  name: 'ship',
  version: ${version},
  input: z.object({ gate: z.string().optional(), item: z.string().optional() }),
  ${more}
  steps: (line) => line${line.join('')},
});
`,
  );
  return directory;
}

const OLD = ['pack', 'rest', 'label'];

interface Planned {
  readonly runs: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly repeats: number;
  readonly untried: number;
  readonly mayBlock: number;
  readonly changed: readonly { readonly route: string }[];
  readonly groups: readonly Readonly<Record<string, unknown>>[];
}

async function planOf(place: Place, code: string, ...args: string[]) {
  const env = { ...place.env, FLEETQ_MACHINES: code };
  const ended = await fleetq(place.cwd, ['plan', '--json', ...args], { env });
  expect(ended.stderr).not.toContain('internal');
  return { code: ended.code, stderr: ended.stderr, ...(JSON.parse(ended.stdout) as Planned) };
}

const rowsOf = (place: Place) =>
  place.store(async (store) => JSON.stringify(await store.list({ countMax: 100 })));

/** One asleep, one inside its first work, one that nobody has begun; all of version 1. */
async function inFlight() {
  const v1 = codeOf(1, OLD);
  const place = await makePlace();
  const env = { ...place.env, FLEETQ_MACHINES: v1 };
  const enqueue = (input: object, ...args: string[]) =>
    fleetq(place.cwd, ['enqueue', 'ship', '--input', JSON.stringify(input), ...args], { env });
  const worker = await place.pod({ machines: v1, slots: '2' });
  const id = async (given: ReturnType<typeof enqueue>) => (await given).stdout.trim();
  const asleep = await id(enqueue({}));
  const gate = join(place.cwd, 'gate-pack');
  const inside = await id(enqueue({ gate }));
  await fileAppears(`${gate}.in`);
  const later = await id(enqueue({ item: 'book' }, '--run-at', '1h'));
  await expect
    .poll(() => place.store(async (store) => (await store.inFlight())[0]))
    .toMatchObject({ waiting: 2, claimed: 1 });
  // What is in hand is told by what is archived of it.
  await expect
    .poll(() => place.store((store) => store.heads([{ task: inside as never, generation: 1 }])))
    .toHaveLength(1);
  return { place, worker, v1, gate, asleep, inside, later };
}

test('plan says of each run whether it continues, advances, upgrades or is blocked, and writes nothing', async () => {
  const { place, v1, gate, asleep, inside, later } = await inFlight();
  const before = await rowsOf(place);

  const same = await planOf(place, v1);
  expect(same).toMatchObject({ code: 0, runs: 3, counts: { continues: 3 }, repeats: 1 });
  expect(same.stderr).toContain('1 run may be inside work or persist');
  expect(same.groups).toContainEqual(
    expect.objectContaining({ fate: 'continues', repeats: 'pack.work', examples: [inside] }),
  );

  const grown = await planOf(place, codeOf(2, [...OLD, 'insure']));
  expect(grown).toMatchObject({ code: 0, counts: { advances: 3, blocked: 0 } });

  const out = join(place.cwd, 'plan.jsonl');
  const other = await planOf(place, codeOf(2, ['pack', 'label', 'rest']), '--out', out);
  expect(other).toMatchObject({ code: 9, counts: { advances: 2, blocked: 1 }, mayBlock: 1 });
  const reason = expect.stringMatching(/ship@2 cannot go on with it: record 2.*or register ship@1/);
  expect(other.groups[0]).toMatchObject({ fate: 'blocked', examples: [asleep], reason });
  const lines = readFileSync(out, 'utf8').trim().split('\n');
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(told.map(({ run, fate, at }) => [run, fate, at]).sort()).toEqual(
    [
      [asleep, 'blocked', 'rest.sleep'],
      [inside, 'advances', 'pack.work'],
      [later, 'advances', ''],
    ].sort(),
  );

  const upgrade = `upgrade: { 1: (old) => {
    if (old.input.item) throw new Error('no books');
    return old.restart({});
  } },`;
  const kind = codeOf(2, ['wrap'], upgrade);
  const untried = await planOf(place, kind);
  expect(untried).toMatchObject({ code: 0, counts: { upgrades: 3 }, untried: 3 });
  expect(untried.stderr).toContain('upgrades were not tried: --sample');
  const tried = await planOf(place, kind, '--sample', 'all');
  expect(tried).toMatchObject({ code: 9, counts: { upgrades: 2, blocked: 1 }, untried: 0 });
  expect(tried.groups[0]).toMatchObject({ reason: expect.stringContaining('no books') });
  expect((await planOf(place, kind, '--sample', '1')).untried).toBe(2);

  const changed = await planOf(place, codeOf(1, ['pack', 'label']));
  expect(changed).toMatchObject({ code: 9, changed: [{ route: 'ship@1' }] });
  expect(changed.stderr).toContain('ship@1 was changed under its version');

  expect(await rowsOf(place)).toBe(before);
  writeFileSync(gate, '');
});

test('what fits no version that is up is blocked, with the reason, until a pod comes that has its own', async () => {
  const { place, worker, v1, gate, inside } = await inFlight();
  writeFileSync(gate, '');
  await expect.poll(() => place.store((store) => store.inFlight())).toMatchObject([{ waiting: 3 }]);
  await worker.drain();
  const v2 = codeOf(2, ['label', 'pack']);
  await place.pod({ machines: v2 });
  await place.json('reschedule', inside, '--run-at', '0s');
  const blocked = async () => {
    const { stdout } = await place.run('runs', '--status', 'blocked', '--json');
    return (JSON.parse(stdout) as { tasks: { id: string; blocked: string }[] }).tasks;
  };
  await expect.poll(async () => (await blocked()).map(({ id }) => id)).toEqual([inside]);
  const why = expect.stringMatching(/no pod that is up has ship@1, and ship@2 cannot go on/);
  expect((await blocked())[0]).toMatchObject({
    status: 'waiting',
    waitsFor: 'version',
    blocked: why,
  });
  const shown = await place.run('run', inside);
  expect(shown.stdout).toMatch(/^blocked {4}no pod that is up has ship@1/m);
  expect((await place.run('runs')).stdout).toContain(`${inside}\tship@1\tblocked`);
  const versions = await place.json<{ machines: object[] }>('machines');
  expect(versions.machines).toMatchObject([
    { machine: 'ship', version: 2, pods: 1, blocked: 0 },
    { machine: 'ship', version: 1, pods: 0, waiting: 3, blocked: 1, why },
  ]);
  await place.pod({ machines: v1, dataDir: 'old' });
  const row = () => place.store(async (store) => (await store.find([inside as never]))[0]);
  await expect.poll(async () => (await row())?.status).toBe('completed');
  expect(await row()).toMatchObject({ version: 1 });
  expect(await blocked()).toEqual([]);
  const [, back] = (await place.json<{ machines: object[] }>('machines')).machines;
  expect(back).toMatchObject({ version: 1, pods: 1, waiting: 2, blocked: 0 });
});

test('runs of this host are planned from its journal, by its process or from the file', async () => {
  const v1 = codeOf(1, OLD);
  const cwd = makeDirectory();
  const env = { FLEETQ_MACHINES: v1 };
  const start = (input: object) =>
    fleetq(cwd, ['start', 'ship', '--input', JSON.stringify(input)], { env });
  const gate = join(cwd, 'gate-pack');
  const worker = await pod(cwd, env);
  const [asleep, inside] = [(await start({})).stdout.trim(), (await start({ gate })).stdout.trim()];
  await fileAppears(`${gate}.in`);
  const plan = async (code: string) => {
    const ended = await fleetq(cwd, ['plan'], { env: { FLEETQ_MACHINES: code } });
    const lines = ended.stdout.replace(/\n$/, '').split('\n');
    const rows = lines.map((line) => line.split('\t')).sort();
    return { code: ended.code, rows, told: rows.map((row) => row.slice(0, 4)) };
  };
  const swapped = codeOf(2, ['pack', 'label', 'rest']);
  await expect
    .poll(async () => (await plan(swapped)).rows)
    .toMatchObject([
      ['ship@1', 'advances to 2', '1', 'pack.work', inside, ''],
      [
        'ship@1',
        'blocked',
        '1',
        '',
        asleep,
        expect.stringContaining('record 2 leads to rest.sleep'),
      ],
    ]);
  writeFileSync(gate, '');
  await worker.drain();
  expect(await plan(swapped)).toMatchObject({ code: 9, told: [['ship@1', 'blocked', '2', '']] });
  expect(await plan(codeOf(2, [...OLD, 'insure']))).toMatchObject({
    code: 0,
    told: [['ship@1', 'advances to 2', '2', '']],
  });
});

test('plan and machines say what is wrong with how they are asked, and that nothing is there', async () => {
  const place = await makePlace();
  const env = { ...place.env, FLEETQ_MACHINES: codeOf(1, OLD) };
  const ask = (...args: string[]) => fleetq(place.cwd, args, { env });
  const nothing = await ask('plan');
  expect([nothing.code, nothing.stdout]).toEqual([0, '']);
  expect(nothing.stderr).toContain('no run is in flight');
  for (const args of [
    ['--sample', '0'],
    ['--staying', 'nobody'],
    ['--out', join(place.cwd, 'no', 'such', 'file')],
  ]) {
    const refused = await ask('plan', ...args);
    expect([refused.code, refused.stderr], args[0]).toEqual([2, expect.stringContaining(args[0]!)]);
  }
  expect((await ask('machines')).code).toBe(3);
  const here = await fleetq(place.cwd, ['machines'], {
    env: { FLEETQ_MACHINES: env.FLEETQ_MACHINES },
  });
  expect([here.code, here.stdout]).toEqual([0, expect.stringMatching(/^ship@1\t\S+\t.*ship\.mjs/)]);
});

test('with pods that stay as they are, what they have continues', async () => {
  const { place, gate } = await inFlight();
  const [pod] = (await place.json<{ pods: { name: string }[] }>('pods')).pods;
  const v2 = codeOf(2, ['label', 'pack']);
  expect(await planOf(place, v2, '--staying', pod!.name)).toMatchObject({
    code: 0,
    counts: { continues: 3 },
  });
  expect(await planOf(place, v2)).toMatchObject({ code: 9, counts: { advances: 1, blocked: 2 } });
  writeFileSync(gate, '');
});

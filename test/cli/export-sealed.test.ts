/** fleetq export where a codec is on: what is sealed stays so in the file, and opens where the key is. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { sealOf } from '../../src/fleet/run-file/format.ts';
import { newCodecKey } from '../../src/ground/index.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace, pod } = usePlaces();

const KEYS = { FLEETQ_CODEC_KEYS: newCodecKey('k1') };
const SECRET = 'hush-hush';
const INPUT = ['--input', JSON.stringify({ secret: SECRET })];

/** Nothing of a fleet is here but, perhaps, the keys. */
let elsewhere: string;
beforeAll(() => {
  elsewhere = makeDirectory();
});
const read = (env: Readonly<Record<string, string>>, ...args: string[]) =>
  fleetq(elsewhere, args, { env: { FLEETQ_MACHINES: '', ...env } });

const withoutLsn = (text: string) => text.replaceAll(/"lsn":\d+,/g, '');

describe('a run of one host whose journal is sealed', () => {
  const here = (...args: string[]) => fleetq(cwd, args, { env: KEYS });
  let cwd: string;
  let file: string;
  let id: string;

  beforeAll(async () => {
    cwd = makeDirectory();
    file = join(cwd, 'a.run.json');
    const { stderr } = await here('start', 'test/failing', ...INPUT, '--wait');
    id = /run (\w{26}) started/.exec(stderr)![1]!;
    const { code, stderr: why } = await here('export', id, '--out', 'a.run.json');
    expect(code, why).toBe(0);
  });

  test('is exported as it is sealed, and shown elsewhere to those who have the key', async () => {
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain('no luck');
    expect(text).toContain('fqs1.k1.');
    for (const args of [['run'], ['run', '--json'], ['events', '--json']]) {
      const [told, there] = [await here(...args, id), await read(KEYS, ...args, '--file', file)];
      expect(there.code, there.stderr).toBe(0);
      expect(withoutLsn(there.stdout)).toBe(withoutLsn(told.stdout));
    }
    const blind = await read({}, 'run', '--file', file, '--json');
    expect(JSON.parse(blind.stdout)).toMatchObject({
      ...{ id, status: 'failed', outcome: 'exhausted', state: 'main.work' },
      input: { sealed: expect.stringContaining('sealed with key k1') },
    });
    const events = await read({}, 'events', '--file', file);
    expect([events.code, events.stdout]).toEqual([0, expect.stringContaining('EXHAUSTED')]);
    expect(blind.stdout + events.stdout).not.toMatch(/hush-hush|no luck/);
  });

  test('is refused where what is sealed beside the records belongs elsewhere, or is none', async () => {
    const held = JSON.parse(readFileSync(file, 'utf8'));
    const other = join(cwd, 'other.run.json');
    for (const sealed of ['{', held.sealed.slice(0, -4), held.generations[0].records[0].data]) {
      const changed = { ...held, sealed };
      writeFileSync(other, JSON.stringify({ ...changed, seal: sealOf(changed) }));
      const refused = await read(KEYS, 'run', '--file', other);
      expect([refused.code, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toContain('what was sealed of it does not open');
    }
  });

  test.each([
    ['sealed', KEYS],
    ['redacted', { FLEETQ_REDACT: 'secret' }],
  ])('is not exported through a process that tells otherwise what is %s', async (_, env) => {
    const directory = makeDirectory();
    const there = (...args: string[]) => fleetq(directory, args, { env });
    const { stderr } = await there('start', 'test/failing', ...INPUT, '--wait');
    const [, local] = /run (\w{26}) started/.exec(stderr)!;
    const holder = await pod(directory, env);
    const refused = await there('export', local!);
    expect([refused.code, refused.stdout], refused.stderr).toEqual([1, '']);
    expect(refused.stderr).toMatch(
      /cannot be exported while a process holds[\s\S]*hint: export it/,
    );
    await holder.drain();
    expect((await there('export', local!)).code).toBe(0);
    const shown = await fleetq(directory, ['run', '--file', `${local}.run.json`], { env: KEYS });
    expect([shown.code, shown.stdout]).toEqual([
      0,
      expect.stringContaining(JSON.stringify({ secret: SECRET })),
    ]);
  });
});

test('a task is exported as the store has it sealed, with how earlier generations ended', async () => {
  const place = await makePlace(KEYS);
  const up = await place.pod();
  const { task } = await place.json('enqueue', 'test/failing', ...INPUT);
  expect((await place.run('wait', task)).code).toBe(4);
  await place.json('dead-letters', 'redrive', task);
  expect((await place.run('wait', task)).code).toBe(4);
  await up.drain();
  const file = join(place.cwd, 'task.run.json');
  await place.json('export', task, '--out', file);
  const text = readFileSync(file, 'utf8');
  expect(text).not.toMatch(/hush-hush|no luck/);
  for (const args of [
    ['run', '--json'],
    ['events', '--json'],
  ]) {
    const [told, there] = [
      await place.run(...args, task),
      await read(KEYS, ...args, '--file', file),
    ];
    expect([there.code, there.stdout], there.stderr).toEqual([0, told.stdout]);
  }
  const blind = await read({}, 'run', '--file', file, '--json');
  expect(JSON.parse(blind.stdout)).toMatchObject({
    id: task,
    input: { sealed: expect.stringContaining('sealed with key k1') },
  });
});

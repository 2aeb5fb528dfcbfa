/** fleetq runs with a filter: of the file, of a process, and of a store. */
import { beforeAll, describe, expect, test } from 'vitest';
import { sift } from '../../src/cli/sift.ts';
import { fleetq, type Place, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace, pod } = usePlaces();

const START = ['start', '--wait', '--json', '--input'];

async function idsOf(cwd: string, ...args: string[]): Promise<string[]> {
  const { stdout, stderr, code } = await fleetq(cwd, ['runs', '--json', ...args]);
  expect([0, 3], stderr).toContain(code);
  const ids = (JSON.parse(stdout).runs as { id: string }[]).map(({ id }) => id);
  expect(code).toBe(ids.length > 0 ? 0 : 3);
  return ids;
}

describe('runs of one host', () => {
  let cwd: string;
  let quick: string;
  let failed: string;

  beforeAll(async () => {
    cwd = makeDirectory();
    quick = JSON.parse(
      (await fleetq(cwd, [...START, '{"n":1}', 'test/quick', '--key', 'order 7'])).stdout,
    ).id;
    const { stderr } = await fleetq(cwd, [
      'start',
      'test/failing',
      '--input',
      '{"secret":"s"}',
      '--wait',
    ]);
    failed = /run (\w{26}) started/.exec(stderr)![1]!;
  });

  const cases: [string, string[]][] = [
    ['status:failed', ['failed']],
    ['status:failed,completed', ['failed', 'quick']],
    ['machine:test/quick', ['quick']],
    ['machine:test/*', ['failed', 'quick']],
    ['"NO luck"', ['failed']],
    ['is:finished created:<1h', ['failed', 'quick']],
    ['created:>1h', []],
    ['outcome:exhausted', ['failed']],
    ['key:"order 7"', ['quick']],
    ['-key:*', ['failed']],
    ['-status:failed', ['quick']],
  ];

  test('are found in the file by every kind of term', async () => {
    for (const [filter, names] of cases) {
      const wanted = names.map((name) => (name === 'quick' ? quick : failed));
      expect(await idsOf(cwd, filter), filter).toEqual(wanted);
    }
  });

  test('are found the same through the process that holds them', async () => {
    await pod(cwd);
    for (const [filter, names] of cases.slice(0, 5)) {
      const wanted = names.map((name) => (name === 'quick' ? quick : failed));
      expect(await idsOf(cwd, filter), filter).toEqual(wanted);
    }
  });

  test('words may stand apart, a minus is no option, and flags are terms', async () => {
    expect(await idsOf(cwd, 'is:finished', '-status:failed')).toEqual([quick]);
    expect(await idsOf(cwd, '-status:failed', '--limit', '1', 'is:finished')).toEqual([quick]);
    expect(await idsOf(cwd, '--status', 'exhausted', 'machine:test/*')).toEqual([failed]);
    expect(await idsOf(cwd, '--machine', 'test/quick', 'status:failed')).toEqual([]);
    expect(await idsOf(cwd, '--before', failed, 'machine:test/*')).toEqual([quick]);
  });

  test('a filter that is wrong ends with 2, its place, and what may be meant', async () => {
    const wrong = await fleetq(cwd, ['runs', 'is:finished', 'staus:failed', '--json']);
    expect([wrong.code, wrong.stdout]).toEqual([2, '']);
    expect(JSON.parse(wrong.stderr).error).toMatchObject({
      code: 'FLEETQ_BAD_FILTER',
      message: 'the filter is wrong at character 13: there is no field "staus"',
      hint: expect.stringContaining('did you mean status?'),
    });
    const flag = await fleetq(cwd, ['runs', '--stauts', 'failed']);
    expect([flag.code, flag.stdout]).toEqual([2, '']);
    expect(flag.stderr).toMatch(/no option "--stauts"[\s\S]*did you mean --status\?/);
    const never = await fleetq(cwd, ['runs', 'status:claimed']);
    expect(never.code).toBe(2);
    expect(never.stderr).toMatch(
      /a run of one host is never claimed[\s\S]*hint: tasks of the fleet/,
    );
  });
});

describe('tasks of the fleet', () => {
  let place: Place;
  let ids: Record<string, string>;

  beforeAll(async () => {
    place = await makePlace();
    const enqueue = async (machine: string, input: string, ...more: string[]) =>
      (await place.json('enqueue', machine, '--input', input, ...more)).task;
    ids = {
      failed: await enqueue('test/failing', '{"secret":"s"}'),
      done: await enqueue('test/quick', '{"n":1}'),
    };
    const up = await place.pod();
    for (const id of Object.values(ids)) await place.run('wait', id);
    await up.drain();
    ids['late'] = await enqueue('test/quick', '{"n":2}', '--run-at', '1h', '--queue', 'slow');
    ids['next'] = await enqueue('test/quick', '{"n":3}', '--priority', '7');
  });

  test('are found by every kind of term', async () => {
    const cases: [string, string[]][] = [
      ['status:failed', ['failed']],
      ['status:pending,waiting', ['next', 'late']],
      ['is:unfinished', ['next', 'late']],
      ['is:dead-letter', ['failed']],
      ['queue:slow', ['late']],
      ['-queue:slow machine:test/quick', ['next', 'done']],
      ['wait:time', ['late']],
      ['due:>now', ['late']],
      ['due:<+2h is:unfinished', ['next', 'late']],
      ['priority:>=5', ['next']],
      ['"no luck"', ['failed']],
      ['machine:test/f*', ['failed']],
      ['status:cancelled', []],
    ];
    for (const [filter, names] of cases) {
      const { stdout, stderr } = await place.run('runs', filter, '--json');
      const found = (JSON.parse(stdout).tasks as { id: string }[]).map(({ id }) => id);
      expect(found, `${filter} ${stderr}`).toEqual(names.map((name) => ids[name]));
    }
  });

  test('flags are terms, and what no task can be is refused', async () => {
    const both = await place.json('runs', '--status', 'failed', 'machine:test/*');
    expect(both).toMatchObject({ tasks: [{ id: ids['failed'] }] });
    const never = await place.run('runs', 'status:handedOff');
    expect(never.code).toBe(2);
    expect(never.stderr).toMatch(/is never handedOff[\s\S]*hint: ask for outcome:handedOff/);
    expect((await place.run('runs', 'status:active')).stderr).toContain('--local');
    expect((await place.run('runs', '--status', 'done')).code).toBe(2);
  });
});

describe('sifting', () => {
  const rows = Array.from({ length: 50_000 }, (_, n) => ({ id: String(99_999 - n), n }));
  const read = async (before: string | undefined, countMax: number) =>
    rows.filter(({ id }) => before === undefined || id < before).slice(0, countMax);
  const page = { before: undefined, countMax: 2, isExact: false };

  test('ends when it has enough, when there is no more, and at its bound, which it tells', async () => {
    const few = await sift(read, ({ n }) => n % 300 === 299, page);
    expect(few).toEqual({ found: [rows[299], rows[599]], lookedUntil: undefined });
    const none = await sift(read, () => false, page);
    expect(none).toEqual({ found: [], lookedUntil: rows[19_999]!.id });
    const rest = await sift(read, () => false, { ...page, before: rows[49_000]!.id });
    expect(rest).toEqual({ found: [], lookedUntil: undefined });
  });

  test('going on from there misses nothing', async () => {
    const keep = ({ n }: { n: number }) => n === 100 || n === 45_000;
    const first = await sift(read, keep, page);
    expect(first.found).toEqual([rows[100]]);
    const second = await sift(read, keep, { ...page, before: first.lookedUntil });
    const third = await sift(read, keep, { ...page, before: second.lookedUntil });
    expect([second.found, third.found]).toEqual([[], [rows[45_000]]]);
  });
});

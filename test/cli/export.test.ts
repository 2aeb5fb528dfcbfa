/** fleetq export: one run as one file, and what is read from it with nothing else at hand. */
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { RunFileError } from '../../src/cli/errors.ts';
import { readRunFile } from '../../src/cli/run-file/read.ts';
import { sealOf } from '../../src/fleet/run-file/format.ts';
import { seeded } from '../ground/seed.ts';
import { fleetq, type Place, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace, pod } = usePlaces();

type Held = {
  seal: string;
  task?: Record<string, unknown>;
  generations: { lastSeq: number; records: Record<string, unknown>[] }[];
} & Record<string, unknown>;

/** Nothing of a fleet is here: no journal, no store, no machines. */
let elsewhere: string;
beforeAll(() => {
  elsewhere = makeDirectory();
});
const read = (...args: string[]) => fleetq(elsewhere, args, { env: { FLEETQ_MACHINES: '' } });

/** A copy that somebody has had their hands on. */
function altered(path: string, change: (held: Held) => void, isSealed = false): string {
  const held = JSON.parse(readFileSync(path, 'utf8')) as Held;
  change(held);
  if (isSealed) held.seal = sealOf(held);
  const copy = join(makeDirectory(), 'altered.run.json');
  writeFileSync(copy, JSON.stringify(held));
  return copy;
}

describe('a run of one host', () => {
  let cwd: string;
  let id: string;
  let file: string;

  beforeAll(async () => {
    cwd = makeDirectory();
    const start = ['start', 'test/failing', '--input', '{"secret":"hush"}', '--wait'];
    const { stderr } = await fleetq(cwd, start);
    id = /run (\w{26}) started/.exec(stderr)![1]!;
    file = join(cwd, `${id}.run.json`);
    const exported = await fleetq(cwd, ['export', id]);
    expect([exported.code, exported.stdout]).toEqual([0, `${id}.run.json\n`]);
  });

  test('is one file with its records and its machine, which only its owner may read', async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const held = JSON.parse(readFileSync(file, 'utf8'));
    expect(held).toMatchObject({
      ...{ kind: 'fleetq.run', format: 1, id, from: { kind: 'journal' } },
      run: { id, status: 'failed', input: { secret: 'hush' } },
      generations: [
        { generation: 1, lastSeq: 2, records: [{ data: { type: 'STARTED' } }, {}, {}] },
      ],
      machine: { route: 'test/failing@1', shape: expect.any(String) },
    });
    expect(held.machine.fingerprint).toBe(held.generations[0].records[0].data.fingerprint);
  });

  test('is shown elsewhere as it is shown here', async () => {
    for (const args of [['run'], ['run', '--json'], ['events'], ['events', '--json']]) {
      const [here, there] = [await fleetq(cwd, [...args, id]), await read(...args, '--file', file)];
      expect([there.code, there.stderr]).toEqual([0, expect.stringContaining('(as exported 20')]);
      const lines = (text: string) => text.replaceAll(/"lsn":\d+,/g, '').split('\n');
      expect(lines(there.stdout)).toEqual(lines(here.stdout));
    }
    const after = await read('events', id, '--file', file, '--after', '1', '--json');
    expect(after.stdout.trim().split('\n')).toHaveLength(1);
    const trace = await read('events', '--file', file, '--trace', '--json');
    expect(JSON.parse(trace.stdout)).toMatchObject({ run: id, outcome: 'exhausted' });
  });

  test('is exported the same by the process that holds it', async () => {
    await pod(cwd);
    const { stdout, code, stderr } = await fleetq(cwd, ['export', id, '--out', '-']);
    expect(code, stderr).toBe(0);
    const without = (text: string) => {
      const { exportedAt: _at, seal: _seal, ...rest } = JSON.parse(text);
      return rest;
    };
    expect(without(stdout)).toEqual(without(readFileSync(file, 'utf8')));
  });

  test('is not written over anything unless that is asked for', async () => {
    const before = readFileSync(file, 'utf8');
    const refused = await fleetq(cwd, ['export', id, '--json']);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(JSON.parse(refused.stderr).error).toMatchObject({
      code: 'FLEETQ_RUN_FILE',
      hint: expect.stringContaining('--force'),
    });
    expect(readFileSync(file, 'utf8')).toBe(before);
    const link = join(cwd, 'link.run.json');
    writeFileSync(join(cwd, 'kept'), 'kept');
    symlinkSync('kept', link);
    expect((await fleetq(cwd, ['export', id, '--out', link])).code).toBe(1);
    expect((await fleetq(cwd, ['export', id, '--out', link, '--force'])).code).toBe(0);
    expect(readFileSync(join(cwd, 'kept'), 'utf8')).toBe('kept');
    expect([readRunFile(link).file.id, statSync(link).mode & 0o777]).toEqual([id, 0o600]);
    const nowhere = await fleetq(cwd, ['export', id, '--out', 'no/such/x.run.json']);
    expect([nowhere.code, nowhere.stderr]).toEqual([
      1,
      expect.stringContaining('cannot be written'),
    ]);
  });

  test('is refused where it was changed, with the record that does not fit', async () => {
    const record = altered(file, ({ generations: [first] }) => {
      (first!.records[1]!['data'] as { type: string; error: object }).error = { message: 'fine' };
    });
    const refused = await read('events', '--file', record);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toContain('generation 1: ');
    expect(refused.stderr).toContain('record 1 does not match its hash');
    const shown = await read('run', '--file', record);
    expect([shown.code, shown.stdout]).toEqual([1, '']);
  });

  test.each<[string, (held: Held) => void, RegExp]>([
    [
      'a record is missing',
      (held) => held.generations[0]!.records.splice(1, 1),
      /record 1 is missing/,
    ],
    [
      'its last record is missing',
      (held) => held.generations[0]!.records.pop(),
      /ends at record 1, and ended at 2/,
    ],
    [
      'records changed places',
      (held) => held.generations[0]!.records.reverse(),
      /record 0 is missing/,
    ],
    [
      'a time is another',
      (held) => (held.generations[0]!.records[0]!['at'] = 1),
      /record 0 does not match/,
    ],
    [
      'a record is another thing',
      (held) => (held.generations[0]!.records[0] = {}),
      /record 0 has values of another kind/,
    ],
    [
      'its status is another',
      (held) => ((held['run'] as Held)['status'] = 'completed'),
      /beside them does not/,
    ],
    [
      'its machine is another',
      (held) => ((held['machine'] as Held)['shape'] = ''),
      /beside them does not/,
    ],
    ['its seal is gone', (held) => delete (held as Partial<Held>).seal, /lacks what every run has/],
    [
      'it is of another format',
      (held) => (held['format'] = 2),
      /has format 2, and this FleetQ reads 1/,
    ],
    ['it is something else', (held) => (held['kind'] = 'x'), /holds no exported run/],
    ['its id is none', (held) => (held['id'] = '../x'), /is no run's id/],
  ])('where %s it is refused', (_, change, message) => {
    const path = altered(file, change);
    expect(() => readRunFile(path)).toThrow(RunFileError);
    expect(() => readRunFile(path)).toThrow(message);
  });

  test('whatever stands in a file, it is a run or is refused as none', () => {
    const places = fc.constantFrom(
      ...['kind', 'exportedAt', 'from', 'id', 'run', 'task', 'generations', 'seal', 'format'],
    );
    const inside = fc.constantFrom('status', 'startedAt', 'error', 'machine', 'id', 'progress');
    fc.assert(
      fc.property(places, inside, fc.jsonValue(), fc.boolean(), (place, field, value, isSealed) => {
        for (const change of [
          (held: Held) => Object.assign(held, { [place]: value }),
          (held: Held) => Object.assign(held['run'] as object, { [field]: value }),
        ]) {
          try {
            readRunFile(altered(file, change, isSealed));
          } catch (error) {
            expect(error).toBeInstanceOf(RunFileError);
          }
        }
      }),
      seeded(150),
    );
  });

  test('what cannot be asked is said', async () => {
    const cases: [string[], RegExp][] = [
      [['events'], /name a run by its id, or a file of one with --file/],
      [['run', '--file', 'nothing.run.json'], /cannot be read: ENOENT/],
      [['run', '--file', '.'], /it is not a file/],
      [['events', '--file', file, '--follow'], /--file does not go with --follow/],
      [['events', '--file', file, '--generation', '7'], /one that the file has, 1; got "7"/],
      [['events', id, '--generation', '1'], /--file is missing/],
      [['run', '01JZZZZZZZZZZZZZZZZZZZZZZZ', '--file', file], /holds run \w+, and not/],
    ];
    for (const [args, message] of cases) {
      const ended = await read(...args);
      expect([ended.code, ended.stdout]).toEqual([2, '']);
      expect(ended.stderr).toMatch(message);
    }
    writeFileSync(join(elsewhere, 'x'), 'no JSON');
    expect((await read('run', '--file', 'x')).stderr).toContain('x is not JSON');
    expect((await fleetq(cwd, ['export', '01JZZZZZZZZZZZZZZZZZZZZZZZ'])).code).toBe(3);
  });
});

describe('a task of the fleet', () => {
  let place: Place;
  let task: string;
  let file: string;

  beforeAll(async () => {
    place = await makePlace();
    const up = await place.pod();
    task = (await place.json('enqueue', 'test/failing', '--input', '{"secret":"hush"}')).task;
    expect((await place.run('wait', task)).code).toBe(4);
    await place.json('dead-letters', 'redrive', task);
    expect((await place.run('wait', task)).code).toBe(4);
    await up.drain();
    file = join(place.cwd, 'task.run.json');
    const told = await place.json<Record<string, unknown>>(
      'export',
      task,
      '--out',
      'task.run.json',
    );
    expect(told).toMatchObject({ file, generations: 2 });
  });

  test('has the records of all its generations, its row, and the machine as the fleet knows it', () => {
    const { file: held, records } = readRunFile(file);
    expect(held).toMatchObject({
      from: { kind: 'store', where: place.env['FLEETQ_STORE_URL'] },
      task: { id: task, status: 'failed', generation: 2, payload: '{"secret":"hush"}' },
      machine: { route: 'test/failing@1' },
      generations: [{ generation: 1, outcome: { type: 'OUTCOME', status: 'failed' } }, {}],
    });
    const types = [...records.values()].map((each) => each.map(({ event }) => event.type));
    expect(types).toEqual([
      ['STARTED', 'FAILED', 'EXHAUSTED'],
      ['STARTED', 'FAILED', 'EXHAUSTED'],
    ]);
  });

  test('is shown elsewhere as it is shown here, and each generation on its own', async () => {
    for (const args of [['run'], ['run', '--json'], ['events', '--json']]) {
      const here = await place.run(...args, task);
      const there = await read(...args, '--file', file);
      expect([there.code, there.stdout]).toEqual([0, here.stdout]);
    }
    const first = await read('events', '--file', file, '--generation', '1', '--json');
    const last = await read('events', '--file', file, '--json');
    const startOf = (text: string) => JSON.parse(text.split('\n')[0]!).event.generation;
    expect([startOf(first.stdout), startOf(last.stdout)]).toEqual([1, 2]);
  });

  test('is refused where a record of an earlier generation was changed', () => {
    const path = altered(file, ({ generations: [first] }) => {
      first!.records[2]!['state'] = 'completed';
    });
    expect(() => readRunFile(path)).toThrow(/generation 1: .*record 2 does not match its hash/);
  });

  test('that was sealed again after its row was made odd is refused, and not shown', () => {
    const odd: Record<string, unknown>[] = [
      { runAt: 1e300 },
      { status: '__proto__' },
      { createdAt: 'x' },
      { error: {} },
      { id: 'other' },
    ];
    for (const values of odd) {
      const path = altered(file, (held) => Object.assign(held.task!, values), true);
      expect(() => readRunFile(path), JSON.stringify(values)).toThrow(/lacks what every run has/);
    }
  });
});

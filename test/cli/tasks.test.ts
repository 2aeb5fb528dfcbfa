/** Tasks by the command line, on a store in a file, with a pod. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fileAppears } from './file-appears.ts';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory, makePlace } = usePlaces();

describe('one task', () => {
  test('is enqueued, waited for, listed, shown with its records, and found ended', async () => {
    const place = await makePlace();
    const { task } = await place.json(
      'enqueue',
      'test/quick',
      '--input',
      '{"n":4}',
      '--priority',
      '5',
    );
    expect(await place.json('runs')).toMatchObject({
      tasks: [{ id: task, status: 'pending', priority: 5 }],
    });
    const late = await place.run('wait', task, '--timeout', '200ms');
    expect([late.code, late.stdout]).toEqual([7, '']);
    expect(late.stderr).toContain('has not ended yet and goes on: it is pending');
    await place.pod();
    const done = await place.run('wait', task);
    expect([done.code, JSON.parse(done.stdout)]).toEqual([0, { doubled: 8 }]);
    expect(done.stderr).toContain(`task ${task} completed`);
    const shown = await place.run('run', task);
    expect(shown.stdout).toMatch(/^status {5}completed$[\s\S]*^output {5}\{"doubled":8\}$/m);
    const events = await place.run('events', task);
    expect(events.stdout.split('\n').map((line) => line.split('\t')[2])).toEqual([
      ...['STARTED', 'DONE'],
      undefined,
    ]);
  });

  test('that fails ends --wait with 4, and is a dead letter', async () => {
    const place = await makePlace();
    await place.pod();
    const input = ['--input', '{"secret":"s"}'];
    const failed = await place.run('enqueue', 'test/failing', ...input, '--wait');
    expect([failed.code, failed.stdout]).toEqual([4, '']);
    expect(failed.stderr).toMatch(/task \w{26} exhausted: no luck/);
  });

  test('is the same task under the same key, and a conflict with another input', async () => {
    const place = await makePlace();
    const enqueue = (n: number) =>
      place.run('enqueue', 'test/quick', '--input', `{"n":${n}}`, '--key', 'k');
    const first = await enqueue(1);
    expect((await enqueue(1)).stdout).toBe(first.stdout);
    const conflict = await enqueue(2);
    expect(conflict.code).toBe(1);
    expect(conflict.stderr).toContain("the key 'k' of test/quick belongs to task");
  });

  test('is refused where its input does not fit, also by --dry-run, and nothing is enqueued', async () => {
    const place = await makePlace();
    for (const more of [[], ['--dry-run']]) {
      const refused = await place.run('enqueue', 'test/quick', '--input', '{"n":"x"}', ...more);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('does not fit its schema');
    }
    const fits = await place.run('enqueue', 'test/quick', '--input', '{"n":1}', '--dry-run');
    expect([fits.code, fits.stdout]).toEqual([0, '']);
    expect((await place.run('runs')).code).toBe(3);
  });

  test('waits for its time, is rescheduled, and cancelled while nobody holds it', async () => {
    const place = await makePlace();
    const quick = ['enqueue', 'test/quick', '--input', '{"n":1}', '--run-at'];
    const { task } = await place.json(...quick, '1h');
    expect(await place.json('run', task)).toMatchObject({ status: 'waiting', waitsFor: 'time' });
    expect(await place.json('reschedule', task, '--run-at', '2030-01-31T12:00:00Z')).toMatchObject({
      answer: 'done',
      what: 'reschedule',
      before: { status: 'waiting' },
    });
    expect(await place.json('run', task)).toMatchObject({ dueAt: Date.UTC(2030, 0, 31, 12) });
    const cancelled = await place.run('cancel', task, '--reason', 'not today');
    expect([cancelled.code, cancelled.stdout]).toEqual([0, `${task} cancelled\n`]);
    const again = await place.run('reschedule', task, '--run-at', '1s');
    expect([again.code, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toContain('cannot be rescheduled: it is cancelled');
  });

  test('I40: is paused, resumed and made due by requests that are done once and logged', async () => {
    const place = await makePlace();
    const quick = ['enqueue', 'test/quick', '--input', '{"n":1}', '--run-at', '1h'];
    const { task } = await place.json(...quick);
    const { revision } = await place.json<{ revision: string }>('run', task);
    const pause = ['pause', task, '--request-id', 'r-1', '--if-revision', revision];
    const dry = await place.json(...pause, '--dry-run');
    expect(dry).toMatchObject({ answer: 'done', isDryRun: true, after: { isPaused: true } });
    expect(await place.json('run', task)).toMatchObject({ isPaused: false });
    const paused = await place.json(...pause);
    expect(paused).toMatchObject({ task, what: 'pause', answer: 'done', isRepeated: false });
    expect(await place.json(...pause)).toEqual({ ...paused, isRepeated: true });
    const reused = await place.run('resume', task, '--request-id', 'r-1', '--json');
    expect([reused.code, JSON.parse(reused.stdout)]).toMatchObject([1, { why: 'reused' }]);
    const late = await place.run('resume', task, '--if-revision', '1.9');
    expect([late.code, late.stdout]).toEqual([1, '']);
    expect(late.stderr).toContain('it is at 1.0.1 by now');
    expect((await place.run('resume', task, '--if-revision', 'x')).code).toBe(2);
    expect((await place.run('resume', '01JCQ8ZZZZZZZZZZZZZZZZZZZZ')).code).toBe(3);
    expect((await place.run('retry', task)).stderr).toContain('it is paused; resume it');
    expect((await place.run('resume', task)).stdout).toBe(`${task} resumed\n`);
    expect((await place.run('retry', task)).stdout).toBe(`${task} is due now\n`);

    const { audit } = await place.json<{ audit: Record<string, unknown>[] }>('audit');
    expect(audit.map(({ what }) => what)).toEqual(['retry', 'resume', 'pause']);
    expect(audit[2]).toMatchObject({ requestId: 'r-1', task, detail: { via: 'cli' } });
    expect(audit[2]!['who']).toMatch(/.@./);
    expect((await place.run('audit', '--what', 'fork')).code).toBe(3);
    expect((await place.run('audit', '--task', task, '--what', 'pause')).stdout).toContain(task);
  });

  test('that has run is forked at a phase, with another input that fits', async () => {
    const place = await makePlace();
    await place.pod();
    const { task } = await place.json('enqueue', 'test/quick', '--input', '{"n":1}');
    await place.run('wait', task, '--timeout', '20s');
    const [from] = ['main.work'];
    const unfit = await place.run('fork', task, '--from', from!, '--set', 'n="x"');
    expect([unfit.code, unfit.stderr]).toMatchObject([2, expect.stringContaining('schema')]);
    expect((await place.run('fork', task, '--from', 'main.persist')).code).toBe(2);
    const sent = ['fork', task, '--from', from!, '--set', 'n=7'];
    const { made } = await place.json<{ made: string }>(...sent);
    const ended = await place.run('wait', made, '--timeout', '20s');
    expect(ended.code).toBe(0);
    expect(await place.json('run', made)).toMatchObject({ status: 'completed', input: { n: 7 } });
  });

  test('that a pod holds is asked to end, and ends as cancelled', async () => {
    const place = await makePlace();
    await place.pod();
    const gate = join(place.cwd, 'gate');
    const input = JSON.stringify({ gate });
    const { task } = await place.json('enqueue', 'test/gated', '--input', input);
    await fileAppears(`${gate}.in`);
    expect(await place.json('cancel', task)).toMatchObject({ answer: 'requested' });
    // The handler is still inside its phase: it learns of it by its signal, not by its end.
    const ended = await place.run('wait', task, '--timeout', '20s');
    expect(ended.code).toBe(4);
    expect(await place.json('run', task)).toMatchObject({ status: 'cancelled' });
    writeFileSync(gate, '');
  });

  test('is followed as its pod archives it, to its end', async () => {
    const place = await makePlace();
    await place.pod();
    const gate = join(place.cwd, 'gate');
    const { task } = await place.json('enqueue', 'test/gated', '--input', JSON.stringify({ gate }));
    await fileAppears(`${gate}.in`);
    const followed = place.run('events', task, '--follow', '--json');
    writeFileSync(gate, '');
    const { code, stdout } = await followed;
    expect(code).toBe(0);
    const states = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).state);
    expect(states).toEqual(['main.work', 'main.persist', 'completed']);
  });
});

describe('a file of tasks', () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, n) => JSON.stringify({ input: { n }, key: `k${n}` }));

  test('is enqueued in batches, in its order, and again without doubling what has a key', async () => {
    const place = await makePlace();
    const file = join(place.cwd, 'many.jsonl');
    writeFileSync(file, `${lines(1_203).join('\n')}\n`);
    const first = await place.run('enqueue', 'test/quick', '--file', file, '--queue', 'night');
    expect([first.code, first.stdout.trim().split('\n').length]).toEqual([0, 1_203]);
    expect(first.stderr).toMatch(/^1203 tasks enqueued in .*, [\d,]+ a second\n$/);
    const again = await place.run('enqueue', 'test/quick', '--file', file);
    expect(again.stdout).toBe(first.stdout);
    const id = first.stdout.split('\n')[7];
    expect(await place.json('run', id!)).toMatchObject({ input: { n: 7 }, queue: 'night' });
  });

  test.each([
    ['not JSON', '{"input":', /line 502: it is not JSON/],
    ['an input that does not fit', '{"input":{"n":"x"}}', /line 502: .*does not fit its schema/],
    ['no input', '{"n":1}', /line 502: must be an object with an input/],
    ['an unknown field', '{"input":{"n":1},"delay":1}', /line 502: has an unknown field "delay"/],
    ['no time', '{"input":{"n":1},"runAt":"soon"}', /line 502: runAt must be a duration/],
  ])('stops at a line with %s, which is named', async (_, bad, message) => {
    const file = join(makeDirectory(), 'many.jsonl');
    writeFileSync(file, [...lines(501), bad, ...lines(3)].join('\n'));
    const dry = await fleetq(makeDirectory(), [
      'enqueue',
      'test/quick',
      '--file',
      file,
      '--dry-run',
    ]);
    expect([dry.code, dry.stdout]).toEqual([2, '']);
    expect(dry.stderr).toMatch(message);
  });

  test('that breaks off keeps what was enqueued before, and says how many', async () => {
    const place = await makePlace();
    const file = join(place.cwd, 'many.jsonl');
    writeFileSync(file, [...lines(501), '{"input":{"n":"x"}}', ...lines(3)].join('\n'));
    const refused = await place.run('enqueue', 'test/quick', '--file', file);
    expect([refused.code, refused.stdout.trim().split('\n').length]).toEqual([2, 500]);
    expect(refused.stderr).toMatch(/line 502: .*does not fit its schema/);
    expect(refused.stderr).toContain('500 tasks had been enqueued before; they stay');
  });

  test('with a key that has another input enqueues none of its batch, and names line and key', async () => {
    const place = await makePlace();
    const file = join(place.cwd, 'many.jsonl');
    await place.run('enqueue', 'test/quick', '--input', '{"n":99}', '--key', 'k502');
    writeFileSync(file, lines(2).concat('{"input":{"n":5},"key":"k502"}').join('\n'));
    const small = await place.run('enqueue', 'test/quick', '--file', file);
    expect([small.code, small.stdout]).toEqual([1, '']);
    expect(small.stderr).toContain("line 3: the key 'k502' of test/quick belongs to task");
    const { tasks } = (await place.json('runs')) as { tasks: readonly unknown[] };
    expect(tasks).toHaveLength(1);
    writeFileSync(file, lines(505).join('\n'));
    const large = await place.run('enqueue', 'test/quick', '--file', file);
    expect([large.code, large.stdout.trim().split('\n').length]).toEqual([1, 500]);
    expect(large.stderr).toContain("line 503: the key 'k502'");
    expect(large.stderr).toContain('500 tasks had been enqueued before; they stay');
  });

  test('that is not there, or is given together with an input, is a usage error', async () => {
    const place = await makePlace();
    const gone = await place.run('enqueue', 'test/quick', '--file', '/no/such');
    expect([gone.code, gone.stderr]).toEqual([2, expect.stringContaining('ENOENT')]);
    const both = await place.run('enqueue', 'test/quick', '--file', 'x', '--input', '1');
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--input cannot be')]);
  });
});

describe('dead letters', () => {
  test('are listed, shown with their records, redriven once for each generation seen, discarded', async () => {
    const place = await makePlace();
    await place.pod();
    expect((await place.run('dead-letters', 'list')).code).toBe(3);
    const input = ['--input', '{"secret":"s"}'];
    await place.run('enqueue', 'test/failing', ...input, '--wait');
    const { deadLetters } = await place.json<{ deadLetters: { id: string }[] }>(
      'dead-letters',
      'list',
    );
    const id = deadLetters[0]!.id;
    expect(deadLetters).toMatchObject([{ outcome: 'exhausted', generation: 1 }]);
    const shown = await place.run('dead-letters', 'show', id);
    expect(shown.stdout).toMatch(/error {6}Error: no luck[\s\S]*STARTED[\s\S]*FAILED/);

    const dry = await place.run('dead-letters', 'redrive', id, '--dry-run');
    expect([dry.code, dry.stderr]).toEqual([0, expect.stringContaining('as generation 2')]);
    const seen = ['--generation', '1'];
    expect(await place.json('dead-letters', 'redrive', id, ...seen)).toMatchObject({
      answer: 'done',
      after: { status: 'pending', revision: expect.stringMatching(/^2\./) },
    });
    await place.run('wait', id, '--timeout', '20s');
    const second = await place.run('dead-letters', 'redrive', id, ...seen);
    expect([second.code, second.stdout]).toEqual([1, '']);
    expect(second.stderr).toMatch(
      /it is at 2\.\d+\.\d+ by now, and not at 1: somebody was here before/,
    );

    const discarded = await place.run('dead-letters', 'discard', id);
    expect([discarded.code, discarded.stdout]).toEqual([0, `${id} discarded\n`]);
    expect((await place.run('dead-letters', 'list')).code).toBe(3);
    const gone = await place.run('dead-letters', 'redrive', id);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining('was discarded at')]);
  });
});

describe('several dead letters', () => {
  interface Report {
    readonly by: string;
    readonly runs: readonly string[];
    readonly redriven: readonly { readonly task: string; readonly generation: number }[];
    readonly left: readonly string[];
  }

  test('are redriven by a run of a pod that answers here, or by the command where none does', async () => {
    const place = await makePlace();
    const pod = await place.pod();
    const fail = async () => {
      const { task } = await place.json('enqueue', 'test/failing', '--input', '{"secret":"s"}');
      await place.run('wait', task, '--timeout', '20s');
      return task as string;
    };
    const tasks = [await fail(), await fail()].sort();
    const quick = await place.json('enqueue', 'test/quick', '--input', '{"n":1}');
    await place.run('wait', quick.task, '--timeout', '20s');

    const dry = await place.json<{ readonly tasks: readonly string[] }>(
      'dead-letters',
      'redrive',
      '--machine',
      'test/failing',
      '--dry-run',
    );
    expect([...dry.tasks].sort()).toEqual(tasks);
    const byPod = await place.run('dead-letters', 'redrive', ...tasks, quick.task, '--json');
    expect(byPod.code, 'one of them was no dead letter').toBe(1);
    const report = JSON.parse(byPod.stdout) as Report;
    expect(report).toMatchObject({ by: 'pod', left: [quick.task] });
    expect(report.redriven.map(({ task, generation }) => [task, generation]).sort()).toEqual(
      tasks.map((task) => [task, 2]),
    );
    // The fleet's picture of a run of one host follows it.
    await expect
      .poll(() => place.json('run', report.runs[0]!))
      .toMatchObject({ machine: 'recovery/redrive', outcome: 'completed' });
    for (const task of tasks) await place.run('wait', task, '--timeout', '20s');

    await pod.drain();
    const alone = await place.json<Report>('dead-letters', 'redrive', '--machine', 'test/failing');
    expect(alone).toMatchObject({ by: 'command', runs: [], left: [] });
    expect(alone.redriven.map(({ generation }) => generation)).toEqual([3, 3]);
    const none = await place.run('dead-letters', 'redrive', '--machine', 'test/failing');
    expect([none.code, none.stdout]).toEqual([3, '']);
  });

  test('are named, or their machine is, and not both; a generation is for one', async () => {
    const place = await makePlace();
    const [one, two] = ['0'.repeat(26), '1'.repeat(26)];
    for (const wrong of [[], [one, '--machine', 'm'], [one, two, '--generation', '1']]) {
      expect((await place.run('dead-letters', 'redrive', ...wrong)).code).toBe(2);
    }
  });
});

describe('without a store, or without its tables', () => {
  test('tables that were never made are told with what makes them, and nothing is made', async () => {
    const cwd = makeDirectory();
    const env = { FLEETQ_STORE_URL: `sqlite:${join(cwd, 'store', 'f.db')}` };
    const ended = await fleetq(cwd, ['pods'], { env });
    expect([ended.code, ended.stderr]).toEqual([6, expect.stringContaining('fleetq migrate up')]);
    expect(existsSync(join(cwd, 'store'))).toBe(false);
  });

  test('an unknown task is 3, and --local looks at the journal alone', async () => {
    const place = await makePlace();
    const nobody = '0'.repeat(26);
    for (const command of ['run', 'events', 'cancel', 'wait']) {
      const ended = await place.run(command, nobody);
      expect([command, ended.code, ended.stderr]).toEqual([
        command,
        3,
        expect.stringContaining(`there is no task ${nobody}`),
      ]);
    }
    const started = await fleetq(place.cwd, ['start', 'test/quick', '--input', '{"n":1}']);
    const id = started.stdout.trim();
    expect(await place.json('runs', '--local')).toMatchObject({ runs: [{ id }] });
    // What the store does not know is looked for on this host.
    expect(await place.json('run', id)).toMatchObject({ id, status: 'active' });
  });
});

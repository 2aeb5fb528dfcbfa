/** Schedules by the command line, on a store in a file. */
import { expect, test } from 'vitest';
import { usePlaces } from './in-process.ts';

const { makePlace } = usePlaces();

test('a schedule is tried out, set, shown, listed, paused, resumed and removed', async () => {
  const place = await makePlace();
  const input = ['--input', '{"n":2}', '--zone', 'Europe/Berlin', '--missed', 'all'];
  const set = ['schedules', 'set', 'nightly', 'test/quick', '--cron', '30 2 * * *', ...input];
  const tried = await place.run(...set, '--dry-run');
  expect([tried.code, tried.stderr]).toEqual([0, expect.stringContaining('nothing was changed')]);
  expect((await place.run('schedules', 'list')).code).toBe(3);
  expect(await place.json(...set, '--request-id', 'once')).toMatchObject({ answer: 'done' });
  expect(await place.json(...set, '--request-id', 'once')).toMatchObject({ isRepeated: true });
  const { schedules } = await place.json<{ schedules: object[] }>('schedules', 'list');
  expect(schedules).toMatchObject([
    { name: 'nightly', cron: '30 2 * * *', input: { n: 2 }, isUnmanned: true, missed: 'all' },
  ]);
  const shown = await place.run('schedules', 'show', 'nightly');
  expect(shown.stdout).toMatch(/^cron {6}30 2 \* \* \* in Europe\/Berlin$/m);
  expect(shown.stdout).toMatch(/^status {4}active, and no pod that is up has its machine/m);
  const { next } = await place.json<{ next: string[] }>(
    ...['schedules', 'next', 'nightly', '--count', '3'],
  );
  expect(next).toHaveLength(3);
  const order = (what: string) => place.json('schedules', what, 'nightly');
  expect(await order('pause')).toMatchObject({ answer: 'done', status: 'paused' });
  expect(await order('resume')).toMatchObject({ answer: 'done', status: 'active' });
  expect(await order('remove')).toMatchObject({ answer: 'done', status: 'removed' });
  const audited = await place.run(
    'schedules',
    'set',
    'now',
    'test/quick',
    '--cron',
    '@yearly',
    ...[...['--input', '{"n":2}', '--overlap', 'skip']],
  );
  expect(audited.code).toBe(0);
  const run = ['schedules', 'run', 'now', '--request-id', 'run-1', '--reason', 'it was late'];
  const first = await place.json<{ run: string }>(...run);
  expect(await place.json(...run)).toMatchObject({ isRepeated: true, run: first.run });
  const busy = await place.run('schedules', 'run', 'now');
  expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('has not ended')]);
  const refused = await place.run('schedules', 'resume', 'nightly');
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('set it again')]);
  const { audit } = await place.json<{ audit: { what: string }[] }>('audit');
  expect(audit.map(({ what }) => what)).toEqual(
    ['run', 'set', 'remove', 'resume', 'pause', 'set'].map((what) => `schedule.${what}`),
  );
  expect(JSON.stringify(audit[0])).toContain('it was late');
});

test('what makes no sense is refused in words', async () => {
  const place = await makePlace();
  const set = ['set', 'nightly', 'test/quick'];
  const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
    [set, 2, /--cron is missing/],
    [[...set, '--cron', '* * * * * *'], 2, /once a minute at most/],
    [[...set, '--cron', '@daily', '--zone', 'Mars'], 2, /there is no time zone "Mars"/],
    [[...set, '--cron', '@daily', '--missed', 'few'], 2, /missed must be skip, one, all/],
    [[...set, '--cron', '@daily', '--input', '{"n":"two"}'], 2, /test\/quick/],
    [['next'], 2, /say the name of a schedule, or an expression/],
    [['show', 'nobody'], 3, /there is no schedule nobody/],
    [['pause', 'nobody'], 3, /there is no schedule nobody/],
    [['run', 'nobody'], 3, /there is no schedule nobody/],
    [[...set, '--cron', '@daily', '--missed', 'all', '--overlap', 'skip'], 2, /one at a time/],
  ];
  for (const [args, code, said] of wrong) {
    const ended = await place.run('schedules', ...args);
    expect([args.join(' '), ended.code, ended.stderr]).toEqual([
      args.join(' '),
      code,
      expect.stringMatching(said),
    ]);
  }
});

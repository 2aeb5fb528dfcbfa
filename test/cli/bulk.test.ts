/** Many tasks at once by the command line, on a store in a file, with a pod. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { fleetq, type Place, usePlaces } from './in-process.ts';

const { makePlace } = usePlaces();

interface Bulk {
  readonly id: string;
  readonly status: string;
  readonly done: number;
  readonly found: number;
}

async function pending(place: Place, count: number): Promise<void> {
  const file = join(place.cwd, 'tasks.jsonl');
  const lines = Array.from({ length: count }, (_, n) => `{"input":{"n":${n}},"runAt":"1h"}\n`);
  writeFileSync(file, lines.join(''));
  expect((await place.run('enqueue', 'test/quick', '--file', file)).code).toBe(0);
}

test('it is tried out, begun, waited for and shown; and each task is changed once', async () => {
  const place = await makePlace();
  await pending(place, 3);
  const filter = ['machine:test/quick', 'status:waiting', '-queue:slow'];
  const tried = await place.run('bulk', 'begin', 'cancel', ...filter, '--dry-run');
  expect(tried.code, tried.stderr).toBe(0);
  expect(tried.stdout.match(/test\/quick {2}waiting {2}done: cancelled at 1\.1/g)).toHaveLength(3);
  expect(tried.stderr).toContain('nothing was changed; 3 tasks fit the filter');
  const pod = await place.pod();
  const wanted = ['--reason', 'wrong input', '--rate', '200/s', '--wait', '--yes'];
  const ended = await place.json<Bulk>('bulk', 'begin', 'cancel', ...filter, ...wanted);
  expect(ended).toMatchObject({
    isUnmanned: false,
    status: 'completed',
    done: 3,
    found: 3,
    expected: 3,
  });
  const { tasks } = await place.json<{ tasks: { error: string }[] }>('runs', 'status:cancelled');
  expect(tasks).toHaveLength(3);
  const shown = await place.run('bulk', 'show', ended.id);
  expect(shown.stdout).toMatch(/^does {8}cancel reason="wrong input"$/m);
  expect(shown.stdout).toMatch(/^done {8}3$/m);
  const audit = await place.json<{ audit: { detail: { via: string } }[] }>(
    ...['audit', '--what', 'cancel'],
  );
  expect(audit.audit.map(({ detail }) => detail.via)).toEqual(Array(3).fill(`bulk:${ended.id}`));
  await pod.drain();
});

describe('what cannot be undone', () => {
  const begin = ['bulk', 'begin', 'cancel', 'machine:test/quick', 'status:waiting'];
  const typing = (text: string) => ({
    input: Object.assign(Readable.from([text]), { isTTY: true }),
    columns: 80,
  });
  const begun = async (place: Place) =>
    (
      await place.store((store) =>
        store.openReader().then((reader) => reader.bulks({ countMax: 9 })),
      )
    ).length;

  test('is not begun where nobody can be asked, unless --yes says so', async () => {
    const place = await makePlace();
    await pending(place, 2);
    for (const what of ['cancel', 'discard']) {
      const refused = await place.run('bulk', 'begin', what, ...begin.slice(3));
      expect([refused.code, refused.stdout]).toEqual([2, '']);
      expect(refused.stderr).toMatch(/cannot be undone[\s\S]*--dry-run[\s\S]*--yes/);
    }
    expect(await begun(place)).toBe(0);
    expect((await place.run(...begin, '--yes')).code).toBe(0);
    expect((await place.run('bulk', 'begin', 'retry', ...begin.slice(3))).code).toBe(0);
    expect(await begun(place)).toBe(2);
  });

  test('is begun on a terminal once its number was typed, and by no other word', async () => {
    const place = await makePlace();
    await pending(place, 3);
    const ask = (text: string) => fleetq(place.cwd, begin, { env: place.env, ...typing(text) });
    for (const text of ['y\n', '2\n', '']) {
      const refused = await ask(text);
      expect([refused.code, refused.stdout]).toEqual([1, '']);
      expect(refused.stderr).toMatch(
        /cancel 3 tasks[\s\S]*type 3 to go on: [\s\S]*nothing was started/,
      );
    }
    expect(await begun(place)).toBe(0);
    expect((await ask('3\n')).code).toBe(0);
    expect(await begun(place)).toBe(1);
  });
});

test('it waits for a pod, is paused, paced, resumed and cancelled; and says so in its exit codes', async () => {
  const place = await makePlace();
  await pending(place, 2);
  const begin = ['bulk', 'begin', 'retry', 'status:waiting', '--request-id', 'once'];
  const { id } = await place.json<Bulk>(...begin);
  const list = await place.json<{ bulks: Bulk[] }>('bulk', 'list');
  expect(list.bulks).toMatchObject([{ id, status: 'running', isUnmanned: true }]);
  expect((await place.run('bulk', 'show', id)).stdout).toContain('no pod is up to go on with it');
  const late = await place.run('bulk', 'watch', id, '--timeout', '300ms');
  expect([late.code, late.stderr]).toEqual([7, expect.stringContaining('it is running')]);
  const order = (...args: string[]) => place.json<Bulk & { answer: string }>('bulk', ...args);
  expect(await order('pause', id)).toMatchObject({ answer: 'requested', status: 'pausing' });
  expect(await order('pace', id, '--rate', '7')).toMatchObject({ answer: 'done', rate: 7 });
  expect(await order('resume', id)).toMatchObject({ answer: 'done', status: 'running' });
  expect(await order('cancel', id)).toMatchObject({ answer: 'requested', status: 'cancelling' });
  const pod = await place.pod();
  const watched = await place.run('bulk', 'watch', id);
  expect([watched.code, watched.stdout]).toEqual([4, expect.stringContaining('cancelled')]);
  const refused = await place.run('bulk', 'resume', id);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('it is cancelled')]);
  await pod.drain();
});

test('what makes no sense is refused in words', async () => {
  const place = await makePlace();
  const wrong: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['begin', 'redrive'], 2, /has no term, and would mean every task/],
    [['begin', 'fork', 'status:failed'], 2, /must be one of cancel, pause/],
    [['begin', 'redrive', 'status:failed', '--rate', '0'], 2, /--rate must be 1 to 5000/],
    [['begin', 'redrive', 'status:failed', '--reason', 'x'], 2, /--reason is for cancel/],
    [['begin', 'redrive', 'status:failed', '--rat', '5'], 2, /no option "--rat"/],
    [['begin', 'reschedule', 'status:waiting'], 2, /--run-at is missing/],
    [['show', 'all'], 2, /must be the id of a bulk operation/],
    [['show', '01JCQ8AAAAAAAAAAAAAAAAAAAA'], 3, /there is no bulk operation/],
    [['list'], 3, /nothing is, or was/],
  ];
  for (const [args, code, said] of wrong) {
    const ended = await place.run('bulk', ...args);
    expect([args.join(' '), ended.code, ended.stderr]).toEqual([
      args.join(' '),
      code,
      expect.stringMatching(said),
    ]);
  }
});

/** Schedules by the API: set, looked at, paused and removed, each with its row. */
import { expect, test } from 'vitest';
import { PREFIX } from '../../src/admin/table.ts';
import { useHouses } from './house.ts';

const openHouse = useHouses();
const SCHEDULES = `${PREFIX}/schedules`;

test('a schedule is tried out, set once, shown with its ticks, paused and removed', async () => {
  const house = await openHouse();
  const ask = (method: string, path: string, body?: object, more: object = {}) =>
    house.ask(method, SCHEDULES + path, {
      headers: { ...house.as('olga'), ...more },
      ...(body === undefined ? {} : { body }),
    });
  const wanted = {
    machine: 'test/double',
    cron: '0 0 1 1 *',
    zone: 'Asia/Kathmandu',
    input: { n: 1 },
  };
  const tried = await ask('POST', '/yearly', { ...wanted, dryRun: true });
  expect([tried.status, tried.body.kind, tried.body.isDryRun]).toEqual([200, 'done', true]);
  expect((await ask('GET', '/yearly')).status).toBe(404);
  const key = { 'idempotency-key': 'once' };
  expect((await ask('POST', '/yearly', wanted, key)).body).toMatchObject({ isRepeated: false });
  expect((await ask('POST', '/yearly', wanted, key)).body).toMatchObject({ isRepeated: true });
  const { body: shown } = await ask('GET', '/yearly?next=2');
  expect(shown).toMatchObject({ name: 'yearly', status: 'active', isUnmanned: false, ticks: 0 });
  expect(shown.next).toHaveLength(2);
  expect(new Date(shown.next[0]).toISOString()).toMatch(/-12-31T18:15:00\.000Z$/);
  const { body: listed } = await ask('GET', '?next=3');
  expect(listed.schedules).toMatchObject([{ name: 'yearly' }]);
  expect(listed.schedules[0].next).toHaveLength(3);
  expect(listed.schedules[0].next.slice(0, 2)).toEqual(shown.next);
  expect((await ask('GET', '?next=11')).status).toBe(400);
  expect((await ask('POST', '/yearly/pause', { reason: 'moving' })).body.schedule.status).toBe(
    'paused',
  );
  const now = { 'idempotency-key': 'now' };
  expect((await ask('POST', '/yearly/run', { dryRun: true })).body).not.toHaveProperty('run');
  const { body: ran } = await ask('POST', '/yearly/run', {}, now);
  expect((await ask('POST', '/yearly/run', {}, now)).body).toMatchObject({ run: ran.run });
  expect(ran.schedule).toMatchObject({ lastRun: ran.run, status: 'paused', ticks: 0 });
  expect((await ask('POST', '/nobody/run', {})).status).toBe(404);
  expect((await ask('POST', '/yearly/remove', {})).body.schedule.status).toBe('removed');
  expect((await ask('POST', '/yearly/resume', {})).status).toBe(409);
  expect((await ask('GET', '')).body.schedules).toEqual([]);
  const log = await house.ask('GET', `${PREFIX}/audit`, { headers: house.as('ada') });
  const whats = log.body.rows.map(({ what }: { what: string }) => what);
  expect(whats).toEqual(['schedule.remove', 'schedule.run', 'schedule.pause', 'schedule.set']);
  // Masked, as everything that somebody wrote.
  expect(log.body.rows[2].detail).toMatchObject({ reason: '(8 bytes)' });
});

test('what makes no sense is a problem with its code, and whoever may only read changes nothing', async () => {
  const house = await openHouse();
  const post = (as: string, body: object) =>
    house.ask('POST', `${SCHEDULES}/s`, { headers: house.as(as), body });
  const wrong = [
    { machine: 'test/double', cron: '* * * * * *', input: { n: 1 } },
    { machine: 'test/double', cron: '@daily', zone: 'Mars', input: { n: 1 } },
  ];
  for (const body of wrong) {
    const told = await post('olga', body);
    expect([told.status, told.body.code]).toEqual([422, 'FLEETQ_BAD_SCHEDULE']);
  }
  const unfit = await post('olga', { machine: 'test/double', cron: '@daily', input: { n: 'x' } });
  expect([unfit.status, unfit.body.code]).toEqual([422, 'FLEETQ_SCHEMA']);
  expect((await post('ruth', { ...wrong[0], cron: '@daily' })).status).toBe(403);
});

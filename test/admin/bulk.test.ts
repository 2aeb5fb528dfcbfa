/** What people do to many runs by the API: tried out, begun once, followed, stopped; each with its row. */
import { expect, test } from 'vitest';
import { PREFIX } from '../../src/admin/table.ts';
import { bulkOf } from '../../src/fleet/index.ts';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { type House, useHouses } from './house.ts';

const openHouse = useHouses();
const BULK = `${PREFIX}/bulk`;
const WAIT = { timeout: 90_000 };

async function letters(house: House, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let made = 0; made < count; made += 1) {
    ids.push((await house.fleet.enqueueByName('test/failing', { secret: 'x' })).id);
  }
  const statuses = async () =>
    new Set((await house.fleet.store.find(ids as never[])).map(({ status }) => status));
  await expect.poll(statuses, WAIT).toEqual(new Set(['failed']));
  return ids;
}

async function begin(house: House, body: object, more: object = {}, as = 'olga') {
  return house.ask('POST', BULK, { headers: { ...house.as(as), ...more }, body });
}

async function over(house: House, id: string) {
  const look = async () =>
    (await house.ask('GET', `${BULK}/${id}`, { headers: house.as('ruth') })).body;
  await expect.poll(async () => (await look()).endedAt !== undefined, WAIT).toBe(true);
  return look();
}

test('it is tried out, begun, worked off by the fleet, and each run has its row', async () => {
  const house = await openHouse();
  const ids = await letters(house, 3);
  const wanted = { what: 'redrive', filter: 'status:failed machine:test/failing', rate: 100 };
  const before = await house.digest();
  const tried = await begin(house, { ...wanted, dryRun: true });
  expect([tried.status, tried.body.count, tried.body.isExact]).toEqual([200, 3, true]);
  expect(tried.body.sample[0]).toMatchObject({ status: 'failed', answer: 'done' });
  expect(tried.body.sample[0].becomes).toMatch(/^pending at 2\./);
  expect(await house.digest()).toBe(before);
  const begun = await begin(house, wanted);
  expect([begun.status, begun.body.what, begun.body.who]).toEqual([201, 'redrive', 'olga']);
  const ended = await over(house, begun.body.id);
  expect(ended).toMatchObject({ status: 'completed', found: 3, done: 3, expected: 3, fraction: 1 });
  for (const id of ids) {
    const told = await house.ask('GET', `${PREFIX}/audit?task=${id}`, { headers: house.as('ada') });
    const rows = told.body.rows.filter(({ what }: { what: string }) => what === 'redrive');
    expect(rows).toMatchObject([{ who: 'olga', detail: { via: `bulk:${begun.body.id}` } }]);
  }
  const log = await house.ask('GET', `${PREFIX}/audit?what=bulk`, { headers: house.as('ada') });
  expect(log.body.rows).toMatchObject([{ who: 'olga', detail: { filter: begun.body.filter } }]);
  const list = await house.ask('GET', BULK, { headers: house.as('ruth') });
  expect(list.body.bulks).toMatchObject([{ id: begun.body.id, status: 'completed' }]);
});

test('sent again under its name it is one operation, and another under it is refused', async () => {
  const house = await openHouse();
  const name = { 'idempotency-key': 'all-of-them' };
  const body = { what: 'cancel', filter: 'machine:test/none', reason: 'not wanted' };
  const first = await begin(house, body, name);
  const second = await begin(house, body, name);
  expect(second.body.id).toBe(first.body.id);
  const other = await begin(house, { ...body, filter: 'machine:test/other' }, name);
  expect([other.status, other.body.code]).toEqual([409, 'FLEETQ_REQUEST_REUSED']);
  const list = await house.ask('GET', BULK, { headers: house.as('ruth') });
  expect(list.body.bulks).toHaveLength(1);
});

test('it is paused, paced, resumed and cancelled, each once under one name', async () => {
  const house = await openHouse();
  await letters(house, 6);
  const begun = await begin(house, { what: 'redrive', filter: 'status:failed', rate: 1 });
  const { id } = begun.body;
  const order = (what: string, body: object = {}, more: object = {}) =>
    house.ask('POST', `${BULK}/${id}/${what}`, { headers: { ...house.as('olga'), ...more }, body });
  const tried = await order('pause', { dryRun: true });
  expect([tried.status, tried.body.kind, tried.body.isDryRun]).toEqual([200, 'requested', true]);
  const paused = await order('pause', {}, { 'idempotency-key': 'hold-it' });
  expect([paused.status, paused.body.kind]).toEqual([200, 'requested']);
  const status = async () =>
    (await house.ask('GET', `${BULK}/${id}`, { headers: house.as('ruth') })).body.status;
  await expect.poll(status, WAIT).toBe('paused');
  expect((await order('pace', { rate: 2 })).body.bulk.rate).toBe(2);
  expect((await order('resume')).body).toMatchObject({ kind: 'done', bulk: { status: 'running' } });
  const again = await order('pause', {}, { 'idempotency-key': 'hold-it' });
  expect([again.body.isRepeated, again.body.bulk.status]).toEqual([true, 'running']);
  expect((await order('cancel')).status).toBe(200);
  const ended = await over(house, id);
  expect(ended.status).toBe('cancelled');
  expect(ended.done).toBeLessThan(7);
  const late = await order('resume');
  expect([late.status, late.body.code]).toEqual([409, 'FLEETQ_REFUSED']);
});

test('what is meant otherwise than it is said is refused in words, and changes nothing', async () => {
  const house = await openHouse();
  const before = await house.digest();
  const wrong: readonly (readonly [object, number, RegExp])[] = [
    [{ what: 'redrive', filter: ' ' }, 400, /has no term, and would mean every task/],
    [{ what: 'redrive', filter: 'sttus:failed' }, 400, /there is no field/],
    [{ what: 'fork', filter: 'status:failed' }, 400, /what in the body/],
    [{ what: 'redrive', filter: 'status:failed', rate: 0 }, 400, /rate in the body/],
    [{ what: 'redrive', filter: 'status:failed', reason: 'x' }, 400, /reason is for cancel/],
    [{ what: 'reschedule', filter: 'status:waiting' }, 400, /wants runAt/],
    [{ what: 'cancel', filter: 'status:failed', reason: 'a\u0000b' }, 422, /character NUL/],
  ];
  for (const [body, status, detail] of wrong) {
    const told = await begin(house, body);
    expect([told.status, told.body.detail]).toEqual([status, expect.stringMatching(detail)]);
  }
  const discarded = await begin(house, { what: 'discard', filter: 'status:failed' });
  expect([discarded.status, discarded.body.code]).toEqual([403, 'FLEETQ_FORBIDDEN']);
  const unknown = await house.ask('GET', `${BULK}/01JCQ8AAAAAAAAAAAAAAAAAAAA`, {
    headers: house.as('ruth'),
  });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'FLEETQ_BULK_NOT_FOUND']);
  expect(await house.digest()).toBe(before);
  const allowed = await begin(house, { what: 'discard', filter: 'status:failed' }, {}, 'ada');
  expect(allowed.status).toBe(201);
});

test('whoever may not see what errors say does not find runs by it, nor their reasons', async () => {
  const house = await openHouse();
  await letters(house, 2);
  const tried = (filter: string) => begin(house, { what: 'redrive', filter, dryRun: true });
  expect((await tried('status:failed "no good"')).body.count).toBe(0);
  expect((await tried('status:failed failing')).body.count).toBe(2);
  const body = { what: 'cancel', filter: 'machine:test/none', reason: 'because of Ann' };
  const begun = await begin(house, body);
  expect(begun.text).not.toContain('Ann');
  // Typed by somebody who is shown everything: it tells what errors say.
  const bulk = bulkOf(
    {
      deed: { what: 'pause' },
      filter: 'status:failed "no good"',
      isMasked: false,
      requestId: 'by-hand',
      who: 'root',
      via: 'cli',
    },
    runIdMint(systemClock, systemRandom),
  );
  await house.fleet.store.beginBulk(bulk);
  const list = await house.ask('GET', BULK, { headers: house.as('ruth') });
  expect(list.text).not.toContain('no good');
  const log = await house.ask('GET', `${PREFIX}/audit?what=bulk`, { headers: house.as('ada') });
  expect(log.text).not.toContain('no good');
});

test('whoever may not begin a discard may stop it, and not let it go on', async () => {
  const house = await openHouse();
  const begun = await begin(house, { what: 'discard', filter: 'machine:test/none' }, {}, 'ada');
  const order = (what: string, as: string, more: object = {}) =>
    house.ask('POST', `${BULK}/${begun.body.id}/${what}`, {
      headers: { ...house.as(as), ...more },
      body: what === 'pace' ? { rate: 9 } : {},
    });
  for (const what of ['resume', 'pace']) expect((await order(what, 'olga')).status).toBe(403);
  const guarded = await order('pause', 'olga', { 'if-match': '"1.1.1"' });
  expect([guarded.status, guarded.body.detail]).toEqual([
    400,
    expect.stringMatching(/no revision/),
  ]);
});

/** What people do by the API: done once, to what was seen, tried first if wished, with its row. */
import { describe, expect, test } from 'vitest';
import { problemOf } from '../../src/admin/problem.ts';
import { PREFIX } from '../../src/admin/table.ts';
import { showTask, viewOf } from '../../src/cli/fleet/task-view.ts';
import type { Output } from '../../src/cli/output.ts';
import { KeyMissingError } from '../../src/ground/index.ts';
import { FOLLOWERS_TOLD_MAX, followersTold, StoreOptionsError } from '../../src/store/index.ts';
import { newTasks } from '../store/factories.ts';
import { type House, useHouses } from './house.ts';

const openHouse = useHouses();
const RUNS = `${PREFIX}/runs`;

async function until(house: House, id: string, status: string): Promise<void> {
  const now = async () => (await house.fleet.store.find([id as never]))[0]?.status;
  await expect.poll(now, { timeout: 90_000 }).toBe(status);
}

async function failed(house: House): Promise<string> {
  const { id } = await house.fleet.enqueueByName('test/failing', {});
  await until(house, id, 'failed');
  return id;
}

/** Due in an hour, so that nobody takes it. */
async function later(house: House): Promise<string> {
  return (await house.fleet.enqueueByName('test/double', { n: 1 }, { runAt: '1h' })).id;
}

async function auditOf(
  house: House,
  id: string,
): Promise<readonly { who: string; what: string }[]> {
  const told = await house.ask('GET', `${PREFIX}/audit?task=${id}`, { headers: house.as('ada') });
  return told.body.rows;
}

describe('start', () => {
  test('a task of the fleet is durable, runs, and has its row', async () => {
    const house = await openHouse();
    const body = { machine: 'test/double', input: { n: 4 } };
    const told = await house.ask('POST', RUNS, { headers: house.as('olga'), body });
    expect([told.status, told.body.source]).toEqual([201, 'store']);
    expect(told.headers.etag).toBe(`"${told.body.revision}"`);
    await until(house, told.body.id, 'completed');
    expect(await auditOf(house, told.body.id)).toMatchObject([{ who: 'olga', what: 'start' }]);
    const ended = await house.ask('GET', `${RUNS}/${told.body.id}/result?waitMs=1000`, {
      headers: house.as('rev'),
    });
    expect([ended.status, ended.body.status]).toEqual([200, 'completed']);
  });

  test('a run goes after another, and says which; what makes no sense of that is refused', async () => {
    const house = await openHouse();
    const ask = (body: object, query = '') =>
      house.ask('POST', RUNS + query, {
        headers: house.as('olga'),
        body: { machine: 'test/double', input: { n: 1 }, ...body },
      });
    const first = await ask({ machine: 'test/gated', input: {} });
    const after = first.body.id;
    const second = await ask({ after, on: 'end' });
    const third = await ask({ after: second.body.id });
    expect(second.body).toMatchObject({ waitsFor: 'run', follows: { run: after, on: 'end' } });
    expect(third.body.follows).toEqual({ run: second.body.id, on: 'success' });
    const { body: followed } = await house.ask('GET', `${RUNS}/${after}`, {
      headers: house.as('ruth'),
    });
    expect(followed.followers).toEqual([
      { run: second.body.id, machine: 'test/double', status: 'waiting', on: 'end' },
    ]);
    const [row] = await auditOf(house, second.body.id);
    expect(row).toMatchObject({ detail: { follows: { run: after, on: 'end' } } });
    const nobody = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
    const before = await house.digest();
    const refused = [
      await ask({ on: 'end' }),
      await ask({ after, on: 'never' }),
      await ask({ after }, '?source=journal'),
      await ask({ after: nobody }),
      await ask({ after: nobody, dryRun: true }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 404, 404]);
    expect(await house.digest()).toBe(before);
    await ask({ after, dryRun: true });
    await house.ask('POST', `${RUNS}/${after}/cancel`, { headers: house.as('olga'), body: {} });
    await until(house, third.body.id, 'completed');
  });

  test('of many followers a hundred are told, and that there are more; by the command line, too', async () => {
    const house = await openHouse();
    const { id: after } = await house.fleet.enqueueByName('test/gated', {});
    const many = async (count: number) => {
      const follows = { run: after, on: 'success' } as const;
      const tasks = newTasks(count, { machine: 'test/double', payload: '{"n":1}', follows });
      await house.fleet.store.enqueue(tasks);
      const headers = house.as('ruth');
      const { followers, hasMoreFollowers } = (
        await house.ask('GET', `${RUNS}/${after}`, { headers })
      ).body;
      const reader = await house.fleet.store.openReader();
      const told = await followersTold(reader, after).finally(() => reader.close());
      const lines: string[] = [];
      const output = {
        paint: (_: unknown, text: string) => text,
        line: (text: string) => lines.push(text),
      };
      const [row] = await house.fleet.store.find([after]);
      showTask({ ...viewOf(row!), ...told }, output as unknown as Output);
      const shown = lines.filter((line) => line.startsWith('follower'));
      return [followers.length, hasMoreFollowers, shown.length, shown.at(-1)];
    };
    expect(await many(FOLLOWERS_TOLD_MAX)).toEqual([
      ...[100, undefined, 100],
      expect.stringContaining('test/double, waiting'),
    ]);
    expect(await many(1)).toEqual([
      ...[100, true, 101],
      expect.stringMatching(/^followers +more than these 100$/),
    ]);
  });

  test('a run has its queue, its turn, its priority and its time; what makes no sense is refused', async () => {
    const house = await openHouse();
    const ask = (body: object, query = '') =>
      house.ask('POST', RUNS + query, {
        headers: { ...house.as('olga'), 'idempotency-key': 'flow' },
        body: { machine: 'test/double', input: { n: 1 }, ...body },
      });
    const words = { queue: 'night', serialKey: 'ada', priority: 7, retriesMax: 3 };
    const given = { ...words, runAt: '2090-01-31T12:00:00Z' };
    const before = await house.digest();
    const refused: [object, RegExp][] = [
      [{ queue: 'a\0' }, /queue in the body does not fit: must be text without NUL/],
      [{ serialKey: '\ud800' }, /serialKey in the body .* halves of surrogate pairs/],
      [{ priority: 40_000 }, /priority in the body does not fit/],
      [{ retriesMax: 0 }, /retriesMax in the body does not fit/],
      [{ runAt: 'soon' }, /runAt must be a duration/],
      [{ runAt: '1h', after: 'x' }, /after and runAt cannot be given together/],
      [{ serialKey: 'a', after: 'x' }, /after and serialKey cannot be given together/],
      [{ key: 'schedule/nightly/now/1' }, /key must not begin with schedule\//],
      [{ qeue: 'a' }, /unknown field "qeue"/],
    ];
    for (const [body, message] of refused) {
      for (const dryRun of [true, false]) {
        const told = await ask({ ...body, dryRun });
        expect([told.status, told.body.detail]).toEqual([400, expect.stringMatching(message)]);
      }
    }
    const local = await ask({ queue: 'night' }, '?source=journal');
    expect([local.status, local.body.detail]).toEqual([
      400,
      'a run of this process alone has no queue: leave it out',
    ]);
    expect((await ask({ ...given, dryRun: true })).status).toBe(200);
    expect(await house.digest()).toBe(before);
    const told = await ask(given);
    const at = { status: 'waiting', dueAt: Date.parse(given.runAt) };
    expect([told.status, told.body]).toMatchObject([
      201,
      { ...at, queue: 'night', serialKey: 'ada', priority: 7 },
    ]);
    expect((await ask(given)).body.id).toBe(told.body.id);
    expect(await auditOf(house, told.body.id)).toMatchObject([{ detail: given }]);
    const [row] = await house.fleet.store.find([told.body.id]);
    expect(row).toMatchObject({ queue: 'night', serialKey: 'ada' });
  });

  test('an input that the machine does not want is refused, and leaves nothing', async () => {
    const house = await openHouse();
    const before = await house.digest();
    for (const dryRun of [true, false]) {
      const body = { machine: 'test/double', input: { n: 'x' }, dryRun };
      const told = await house.ask('POST', RUNS, { headers: house.as('olga'), body });
      expect([told.status, told.body.code]).toEqual([422, 'FLEETQ_SCHEMA']);
    }
    expect(await house.digest()).toBe(before);
  });

  test('a start that is sent again under its name, or its key, is one run', async () => {
    const house = await openHouse();
    const ask = (headers: object, key?: string) =>
      house.ask('POST', RUNS, {
        headers: { ...house.as('olga'), ...headers },
        body: { machine: 'test/double', input: { n: 1 }, key },
      });
    const ids = [await ask({ 'idempotency-key': 'one' }), await ask({ 'idempotency-key': 'one' })];
    expect(ids[0]!.body.id).toBe(ids[1]!.body.id);
    expect((await auditOf(house, ids[0]!.body.id)).length).toBe(1);
    expect((await ask({}, 'k')).body.id).toBe((await ask({}, 'k')).body.id);
    expect((await ask({}, 'k')).body.id).not.toBe(ids[0]!.body.id);
  });

  test('under the name of something else none is begun', async () => {
    const house = await openHouse();
    const headers = { ...house.as('olga'), 'idempotency-key': 'mine' };
    await house.ask('POST', `${RUNS}/${await later(house)}/cancel`, { headers, body: {} });
    const before = await house.digest();
    for (const path of [RUNS, `${RUNS}?source=journal`]) {
      const body = { machine: 'test/double', input: { n: 1 } };
      const told = await house.ask('POST', path, { headers, body });
      expect([path, told.status, told.body.code]).toEqual([path, 409, 'FLEETQ_REQUEST_REUSED']);
    }
    expect(await house.digest()).toBe(before);
    const { runs } = (await house.ask('GET', `${RUNS}?source=journal`, { headers })).body;
    expect(runs).toEqual([]);
  });

  test('one of this process alone is in its journal, and told from there', async () => {
    const house = await openHouse();
    const body = { machine: 'test/double', input: { n: 1 } };
    const told = await house.ask('POST', `${RUNS}?source=journal`, {
      headers: house.as('olga'),
      body,
    });
    expect([told.status, told.body.source]).toEqual([201, 'journal']);
    const { rows } = (
      await house.ask('GET', `${PREFIX}/audit?what=start`, { headers: house.as('ada') })
    ).body;
    expect(rows).toMatchObject([{ who: 'olga', detail: { key: told.body.key } }]);
    const list = await house.ask('GET', `${RUNS}?source=journal&filter=machine:test/double`, {
      headers: house.as('ruth'),
    });
    expect(list.body.runs).toMatchObject([{ id: told.body.id }]);
  });
});

describe('a change', () => {
  const DEEDS: readonly [what: string, of: typeof later, body: object, role: string][] = [
    ['cancel', later, { reason: 'not wanted' }, 'olga'],
    ['pause', later, {}, 'olga'],
    ['reschedule', later, { runAt: '2h' }, 'olga'],
    ['redrive', failed, {}, 'olga'],
    ['redrive', failed, { input: { n: 7 } }, 'olga'],
    ['fork', failed, { from: 'main.work' }, 'olga'],
    ['discard', failed, {}, 'ada'],
  ];

  test.each(DEEDS)(
    '%s is tried, guarded, done once, and has one row',
    async (what, of, body, who) => {
      const house = await openHouse();
      const id = await of(house);
      const url = `${RUNS}/${id}`;
      const post = (more: object, headers: object = {}) =>
        house.ask('POST', `${url}/${what}`, {
          headers: { ...house.as(who), ...headers },
          body: { ...body, ...more },
        });
      const seen = (await house.ask('GET', url, { headers: house.as(who) })).headers.etag!;
      const before = await house.digest();
      const tried = await post({ dryRun: true });
      expect([tried.status, tried.body.isDryRun]).toEqual([200, true]);
      const stale = await post({}, { 'if-match': '"9.9"' });
      expect([stale.status, stale.body.code]).toEqual([412, 'FLEETQ_REVISION']);
      expect(stale.headers.etag).toBe(seen);
      expect(await house.digest()).toBe(before);

      const headers = { 'idempotency-key': 'mine', 'if-match': seen };
      const done = await post({}, headers);
      expect([done.status, done.body.requestId, done.body.isRepeated]).toEqual([
        200,
        'mine',
        false,
      ]);
      const again = await post({}, { 'idempotency-key': 'mine', 'if-match': seen });
      expect([again.status, again.body.isRepeated]).toEqual([200, true]);
      const rows = (await auditOf(house, id)).filter((row) => row.what === what);
      expect(rows).toMatchObject([{ who, what, requestId: 'mine' }]);
      const reused = await post(what === 'cancel' ? { reason: 'other' } : {}, {
        'idempotency-key': 'mine',
      });
      expect(reused.status).toBe(what === 'cancel' ? 409 : 200);
    },
  );

  test('pause and resume, retry of one that waits', async () => {
    const house = await openHouse();
    const id = await later(house);
    const post = (what: string) =>
      house.ask('POST', `${RUNS}/${id}/${what}`, { headers: house.as('olga'), body: {} });
    expect((await post('pause')).body).toMatchObject({ kind: 'done', after: { isPaused: true } });
    expect((await post('resume')).body).toMatchObject({ kind: 'done', after: { isPaused: false } });
    expect((await post('retry')).status).toBe(200);
    await until(house, id, 'completed');
  });

  test('what has no revision is not guarded by one', async () => {
    const house = await openHouse();
    const headers = { ...house.as('ada'), 'if-match': '"1.0.0"' };
    const { body } = await house.ask('GET', `${PREFIX}/pods`, { headers: house.as('ada') });
    const before = await house.digest();
    for (const [url, given] of [
      [RUNS, { machine: 'test/double', input: { n: 4 } }],
      [`${PREFIX}/pods/${body.pods[0].pod}/drain`, {}],
    ] as const) {
      const told = await house.ask('POST', url, { headers, body: given });
      expect([told.status, told.body.detail]).toEqual([400, expect.stringContaining('If-Match')]);
    }
    expect(await house.digest()).toBe(before);
  });

  test('a pod is asked to drain, once, with its row', async () => {
    const house = await openHouse();
    const { pods } = (await house.ask('GET', `${PREFIX}/pods`, { headers: house.as('ruth') })).body;
    const url = `${PREFIX}/pods/${pods[0].pod}/drain`;
    const ask = (as: string, key: string) =>
      house.ask('POST', url, { headers: { ...house.as(as), 'idempotency-key': key }, body: {} });
    const id = await later(house);
    const headers = { ...house.as('ada'), 'idempotency-key': 'used' };
    await house.ask('POST', `${RUNS}/${id}/pause`, { headers, body: {} });
    expect((await ask('ada', 'used')).body.code).toBe('FLEETQ_REQUEST_REUSED');
    for (const _ of ['first', 'again']) {
      const told = await ask('ada', 'mine');
      expect([told.status, told.body.isAsked]).toEqual([202, true]);
    }
    const reader = await house.fleet.store.openReader();
    expect((await reader.audit({ what: 'drain', countMax: 9 })).rows).toMatchObject([
      { who: 'ada' },
    ]);
    await reader.close();
  });

  test('the process itself is asked to drain, with its row', async () => {
    const house = await openHouse();
    const reader = await house.fleet.store.openReader();
    const headers = house.as('ada');
    const told = await house.ask('POST', `${PREFIX}/drain`, { headers, body: {} });
    expect(told.status).toBe(202);
    const { rows } = await reader.audit({ what: 'drain', countMax: 9 });
    expect(rows).toMatchObject([{ who: 'ada' }]);
    await reader.close();
  });

  test('a task that is held here is cancelled by the store, wherever it is looked at', async () => {
    const house = await openHouse();
    const { id } = await house.fleet.enqueueByName('test/gated', {});
    await until(house, id, 'claimed');
    const at = `${RUNS}/${id}?source=journal`;
    const isHere = async () => (await house.ask('GET', at, { headers: house.as('olga') })).status;
    await expect.poll(isHere, { timeout: 90_000 }).toBe(200);
    const cancel = () =>
      house.ask('POST', `${RUNS}/${id}/cancel?source=journal`, {
        headers: { ...house.as('olga'), 'idempotency-key': 'mine' },
        body: { reason: 'sneaky' },
      });
    expect((await cancel()).body).toMatchObject({ kind: 'requested', isRepeated: false });
    expect((await cancel()).body).toMatchObject({ kind: 'requested', isRepeated: true });
    expect(await auditOf(house, id)).toMatchObject([{ who: 'olga', what: 'cancel' }]);
  });

  test('a run of this process alone is cancelled with its row, once', async () => {
    const house = await openHouse();
    const { id } = await house.fleet.startByName('test/gated', {});
    const cancel = (key: string) =>
      house.ask('POST', `${RUNS}/${id}/cancel?source=journal`, {
        headers: { ...house.as('olga'), 'idempotency-key': key },
        body: {},
      });
    await house.ask('POST', `${RUNS}/${await later(house)}/pause`, {
      headers: { ...house.as('olga'), 'idempotency-key': 'used' },
      body: {},
    });
    expect((await cancel('used')).status).toBe(409);
    expect((await cancel('mine')).body).toMatchObject({ kind: 'done', isRepeated: false });
    expect((await cancel('mine')).body).toMatchObject({ kind: 'done', isRepeated: true });
    expect(await auditOf(house, id)).toMatchObject([{ who: 'olga', what: 'cancel' }]);
  });

  test('what was asked of an unknown run or pod is not found, and leaves nothing', async () => {
    const house = await openHouse();
    const before = await house.digest();
    for (const path of [
      `${RUNS}/01JCQ8AAAAAAAAAAAAAAAAAAAA/cancel`,
      `${RUNS}/x/cancel`,
      `${PREFIX}/pods/x/drain`,
    ]) {
      const told = await house.ask('POST', path, { headers: house.as('ada'), body: {} });
      expect([path, told.status]).toEqual([path, 404]);
    }
    expect(await house.digest()).toBe(before);
  });
});

describe('without a store', () => {
  test('the journal is served, a run is cancelled, and the rest is refused with a code', async () => {
    const house = await openHouse({ hasStore: false, grants: [] });
    const { body: run } = await house.ask('POST', RUNS, {
      body: { machine: 'test/gated', input: {} },
    });
    expect((await house.ask('GET', RUNS)).body.runs).toMatchObject([
      { id: run.id, source: 'journal' },
    ]);
    expect((await house.ask('GET', `${RUNS}/${run.id}/context`)).body).toMatchObject({
      state: 'main.work',
    });
    for (const what of ['pause', 'resume', 'retry', 'redrive', 'discard']) {
      const told = await house.ask('POST', `${RUNS}/${run.id}/${what}`, { body: {} });
      expect([what, told.status, told.body.code]).toEqual([what, 409, 'FLEETQ_NO_STORE']);
    }
    for (const path of [
      'pods',
      'leader',
      'errors',
      'audit',
      'dead-letters',
      'sweeps',
      'runs/count',
    ]) {
      const told = await house.ask('GET', `${PREFIX}/${path}`);
      expect([path, told.status, told.body.code]).toEqual([path, 409, 'FLEETQ_NO_STORE']);
    }
    const told = await house.ask('POST', `${RUNS}/${run.id}/cancel`, {
      body: { reason: 'enough' },
    });
    expect(told.body).toMatchObject({ kind: 'done', isCancelled: true });
  });
});

test('what a run was at any of its records is told, from the archive as well', async () => {
  const house = await openHouse({ grants: [] });
  const { id } = await house.fleet.enqueueByName('test/double', { n: 3 });
  await until(house, id, 'completed');
  const events = (await house.ask('GET', `${RUNS}/${id}/events`)).body;
  expect(events.source).toBe('archive');
  const at = (seq: number) => house.ask('GET', `${RUNS}/${id}/context?at=${seq}`);
  expect((await at(0)).body).toMatchObject({ state: 'main.work', input: { n: 3 }, outputs: {} });
  const last = events.events.at(-1).seq;
  expect((await at(last)).body).toMatchObject({
    outputs: { main: { double: 6 } },
    ending: { outcome: 'completed' },
  });
  expect((await at(last + 1)).body.code).toBe('FLEETQ_NO_SUCH_RECORD');
});

test('times that no store can hold are refused', async () => {
  const house = await openHouse({ grants: [] });
  const path = `${RUNS}/histogram?from=9007199254740990&until=9007199254740991`;
  expect((await house.ask('GET', path)).status).toBe(400);
});

test('a missing key, and a store that does not let us, are no defects of the process', () => {
  const missing = new KeyMissingError('may', { run: 'r', what: 'input' });
  expect(problemOf(missing)).toMatchObject({ status: 409 });
  expect(problemOf(new StoreOptionsError('permission denied'))).toMatchObject({ status: 503 });
});

/** APIs that the fleet calls, over HTTP: looked at, fixed and forgotten, each with its row. */
import { expect, test } from 'vitest';
import { PREFIX } from '../../src/admin/table.ts';
import { published } from '../throttle/published.ts';
import { type House, useHouses } from './house.ts';

const openHouse = useHouses();
const THROTTLES = `${PREFIX}/throttles`;
/** A slash in it, as in a name for each region. */
const API = 'llm/eu';
const AT = `/${encodeURIComponent(API)}`;

/** With one call that is out. */
async function open() {
  const house = await openHouse();
  const ask = (method: string, path: string, body?: object, more: object = {}) =>
    house.ask(method, THROTTLES + path, {
      headers: { ...house.as('olga'), ...more },
      ...(body === undefined ? {} : { body }),
    });
  const { fleet, opening } = house;
  fleet
    .throttle(API)
    .use(() => opening.opened)
    .catch(() => undefined);
  const outCount = async () => (await ask('GET', AT)).body.now?.inFlight;
  await expect.poll(outCount, { timeout: 90_000 }).toBe(1);
  return { house, ask };
}

async function logged(house: House): Promise<{ what: string; detail: Record<string, unknown> }[]> {
  const { body } = await house.ask('GET', `${PREFIX}/audit`, { headers: house.as('ada') });
  return body.rows;
}

test('an API is shown with its limit, calls, refusals, shares and a sentence', async () => {
  const { house, ask } = await open();
  const { body } = await ask('GET', '');
  const [pod] = await house.fleet.store.pods();
  expect(body.throttles).toMatchObject([
    {
      api: API,
      breaker: 'closed',
      now: { inFlight: 1, waiting: 0, throttled: 0 },
      pods: [{ pod: pod!.pod, inFlight: 1, waiting: 0 }],
    },
  ]);
  const [{ cap, pods, state }] = body.throttles;
  expect(cap).toBeGreaterThan(0);
  expect(pods[0].share).toBeLessThanOrEqual(cap);
  expect(state).toBe(`1 of ${Math.floor(cap)} permits are out in 1 pod`);
  const unknown = await ask('GET', '/crm');
  expect([unknown.status, unknown.body.code]).toEqual([404, 'FLEETQ_API_NOT_FOUND']);
});

test('what was declared of an API is told with it', async () => {
  const { house, ask } = await open();
  const declared = { ceiling: 40, perSecondMax: 0.5, costPerMinuteMax: 400_000 };
  await house.fleet.store.publishThrottles([{ api: 'paid', epoch: 0, state: published(declared) }]);
  expect((await ask('GET', '/paid')).body).toMatchObject({
    ...{ ceiling: 40, perSecond: 0.5, costPerMinute: 400_000 },
  });
});

test('whether a limit is found out is shown; where it is not, nothing that was learned is', async () => {
  const { house, ask } = await open();
  const words = [true, false].map((isAdaptive) => {
    return { api: `is-${isAdaptive}`, epoch: 0, state: published({ isAdaptive }) };
  });
  await house.fleet.store.publishThrottles(words);
  const [adaptive, declared] = [await ask('GET', '/is-true'), await ask('GET', '/is-false')];
  expect(adaptive.body).toMatchObject({ isAdaptive: true, learned: 6.4, decision: 'trim' });
  expect(declared.body).toMatchObject({ isAdaptive: false, cap: 6.4, latencyMs: 500 });
  expect(declared.body).not.toHaveProperty('learned');
  expect(declared.body).not.toHaveProperty('decision');
});

test('a limit is tried out, fixed once for a time, let go of, and what was learned forgotten', async () => {
  const { house, ask } = await open();
  const pin = { limit: 3, for: '30m', reason: 'they asked us to' };
  const tried = await ask('POST', `${AT}/pin`, { ...pin, dryRun: true });
  expect([tried.status, tried.body.kind, tried.body.throttle.pinned]).toEqual([
    200,
    'done',
    undefined,
  ]);
  const key = { 'idempotency-key': 'once' };
  const done = await ask('POST', `${AT}/pin`, pin, key);
  expect(done.body).toMatchObject({ kind: 'done', isRepeated: false, isDryRun: false });
  expect(done.body.throttle).toMatchObject({ pinned: 3, pinnedBy: 'olga', cap: 3 });
  expect(done.body.throttle.pinnedUntil).toBeGreaterThan(0);
  await ask('POST', `${AT}/unpin`, {});
  expect((await ask('POST', `${AT}/pin`, pin, key)).body).toMatchObject({ isRepeated: true });
  expect((await ask('GET', AT)).body.pinned).toBeUndefined();
  expect((await ask('POST', `${AT}/unpin`, {})).body.kind).toBe('already');
  const forgotten = await ask('POST', `${AT}/reset`, { reason: 'another contract' });
  expect(forgotten.body.kind).toBe('done');
  const rows = await logged(house);
  expect(rows.map(({ what }) => what)).toEqual([
    'throttle.reset',
    'throttle.unpin',
    'throttle.unpin',
    'throttle.pin',
  ]);
  expect(rows[1]!.detail).toMatchObject({ api: API, kind: 'already' });
  const reason = expect.any(String);
  expect(rows[3]!.detail).toMatchObject({ api: API, cap: 3, forMs: 1_800_000, reason });
});

test('what makes no sense is refused in words, and whoever may only read changes nothing', async () => {
  const { house, ask } = await open();
  for (const [body, words] of [
    [{ limit: 0 }, /limit in the body does not fit/],
    [{ limit: 3, for: 'soon' }, /for wants a duration above 0/],
    [{ limit: 3, dryrun: true }, /did you mean dryRun/],
    [{}, /limit in the body does not fit/],
  ] as const) {
    const told = await ask('POST', `${AT}/pin`, body);
    expect([told.status, told.text]).toEqual([400, expect.stringMatching(words)]);
  }
  expect((await ask('POST', '/crm/reset', {})).status).toBe(404);
  expect((await ask('POST', `${AT}/pin`, { limit: 3 }, house.as('ruth'))).status).toBe(403);
  expect((await ask('GET', AT)).body.pinned).toBeUndefined();
  expect(await logged(house)).toEqual([]);
});

test('a name that no API can have is not fixed, and of one that nobody calls that is said', async () => {
  const { house, ask } = await open();
  for (const odd of ['a\nb', 'a\u0000b', 'a\u009bb', 'x'.repeat(201)]) {
    const told = await ask('POST', `/${encodeURIComponent(odd)}/pin`, { limit: 3 });
    expect([told.status, told.text]).toEqual([400, expect.stringContaining('1 to 200 characters')]);
  }
  expect((await ask('GET', '')).body.throttles).toMatchObject([{ api: API }]);
  expect(await logged(house)).toEqual([]);
  const mistyped = await ask('POST', '/llm%2Feuu/pin', { limit: 3 });
  expect([mistyped.body.kind, mistyped.body.note]).toEqual([
    'done',
    `no pod has told of calls of "llm/euu" yet: it holds from the first one on; did you mean ${API}?`,
  ]);
  expect((await ask('POST', `${AT}/pin`, { limit: 3 })).body).not.toHaveProperty('note');
});

test('many APIs come a page at a time, by name', async () => {
  const { house, ask } = await open();
  const words = ['b', 'a', 'c'].map((api) => ({ api, epoch: 0, state: published() }));
  await house.fleet.store.publishThrottles(words);
  const first = (await ask('GET', '?limit=3')).body;
  expect([first.throttles.map(({ api }: { api: string }) => api), first.cursor]).toEqual([
    ['a', 'b', 'c'],
    'c',
  ]);
  const rest = (await ask('GET', `?limit=3&cursor=${first.cursor}`)).body;
  expect([rest.throttles.length, rest.cursor]).toEqual([1, undefined]);
});

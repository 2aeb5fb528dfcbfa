/**
 * Who may do what: every route of the table, asked by everybody there is. What is refused changes no
 * row; what is answered fits the schema that the table gives.
 */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { ROUTES } from '../../src/admin/routes/index.ts';
import { PREFIX, type Route } from '../../src/admin/table.ts';
import { ROLES, type Role } from '../../src/config/index.ts';
import { shiftOf } from '../../src/store/index.ts';
import { changeOf, schedulePlan } from '../store/conform-schedules.ts';
import { published } from '../throttle/published.ts';
import { type House, login, useHouses } from './house.ts';

const openHouse = useHouses();

interface Visitor {
  readonly name: string;
  /** Undefined: nobody knows them. */
  readonly role: Role | undefined;
  readonly mayReveal?: true;
  headers(house: House): Promise<Readonly<Record<string, string>>>;
}

const VISITORS: readonly Visitor[] = [
  { name: 'nobody', role: undefined, headers: async () => ({}) },
  {
    name: 'a wrong token',
    role: undefined,
    headers: async () => ({ authorization: `Bearer fq_${'0'.repeat(64)}` }),
  },
  {
    name: 'a forged session',
    role: undefined,
    headers: async () => ({ cookie: 'fleetq_session=e30.AAAA', 'x-fleetq-csrf': 'AAAA' }),
  },
  { name: 'a token to read', role: 'read', headers: async (house) => house.as('ruth') },
  {
    name: 'a token to read and reveal',
    role: 'read',
    mayReveal: true,
    headers: async (house) => house.as('rev'),
  },
  { name: 'a token to operate', role: 'operate', headers: async (house) => house.as('olga') },
  { name: 'a token of an admin', role: 'admin', headers: async (house) => house.as('ada') },
  { name: 'a session to read', role: 'read', headers: (house) => login(house, 'ruth') },
  { name: 'a session to operate', role: 'operate', headers: (house) => login(house, 'olga') },
  { name: 'a session of an admin', role: 'admin', headers: (house) => login(house, 'ada') },
];

interface Sample {
  readonly path: string;
  readonly body: unknown;
}

/** A request that the route would answer, changing nothing. */
async function sampleOf(route: Route, house: House): Promise<Sample> {
  const failed = await taskOf(house, 'test/failing', 'failed');
  const gated = await taskOf(house, 'test/gated', 'claimed');
  const [pod] = (await house.ask('GET', `${PREFIX}/pods`, { headers: house.as('ada') })).body.pods;
  const isOfPod = route.path.startsWith('/pods/');
  const isOfDead = /redrive|discard|fork/.test(route.path);
  const isOfBulk = route.path.startsWith('/bulk/');
  const isOfSchedule = route.path.startsWith('/schedules/');
  const isOfTask = isOfDead ? failed : gated;
  const id = isOfPod
    ? pod.pod
    : isOfBulk
      ? await bulkIn(house)
      : isOfSchedule
        ? await scheduleIn(house)
        : route.path.startsWith('/throttles/')
          ? await apiIn(house)
          : isOfTask;
  const queries: Record<string, string> = { '/runs/histogram': '?from=0&until=9000000000000' };
  const path = PREFIX + route.path.replace(':id', id) + (queries[route.path] ?? '');
  const bodies: Record<string, object> = {
    '/runs': { machine: 'test/double', input: { n: 1 } },
    '/runs/:id/reschedule': { runAt: '10m' },
    '/runs/:id/fork': { from: 'main.work' },
    '/bulk': { what: 'redrive', filter: 'status:failed' },
    '/bulk/:id/pace': { rate: 7 },
    '/queues': { what: 'queue.limit', name: 'reports', limit: 5 },
    '/schedules/:id': { machine: 'test/double', cron: '@daily', input: { n: 1 } },
    '/throttles/:id/pin': { limit: 3 },
    '/session': { token: house.secrets['ruth'] },
  };
  const isDry = route.body !== undefined && 'dryRun' in route.body;
  return { path, body: { ...bodies[route.path], ...(isDry ? { dryRun: true } : {}) } };
}

/** One that nobody is at: its run is due tomorrow. */
async function bulkIn({ fleet }: House): Promise<string> {
  const id = '01JCQ8BBBBBBBBBBBBBBBBBBBB';
  const run = shiftOf(id, '01JCQ8CCCCCCCCCCCCCCCCCCCC' as never);
  await fleet.store.beginBulk({
    ...{ id, requestId: 'matrix', who: 'ada', via: 'test', isMasked: false, rate: 1 },
    ...{ what: 'retry', deed: '{"what":"retry"}', filter: 'status:waiting', countMax: undefined },
    shift: { ...run, due: { afterMs: 86_400_000 } },
  });
  return id;
}

async function scheduleIn({ fleet }: House): Promise<string> {
  const plan = schedulePlan({ machine: 'test/double', expression: '0 0 1 1 *' });
  const change = changeOf('matrix', { what: 'set', plan }, { requestId: 'matrix-schedule' });
  await fleet.store.changeSchedule(change);
  return 'matrix';
}

async function apiIn({ fleet }: House): Promise<string> {
  await fleet.store.publishThrottles([{ api: 'matrix', epoch: 0, state: published() }]);
  return 'matrix';
}

async function taskOf({ fleet }: House, machine: string, status: string): Promise<string> {
  const [row] = await fleet.store.list({ machine, countMax: 1 });
  const id = row?.id ?? (await fleet.enqueueByName(machine, { secret: 'x' })).id;
  await expect
    .poll(async () => (await fleet.store.find([id as never]))[0]?.status, { timeout: 90_000 })
    .toBe(status);
  return id;
}

function isAllowed({ role, reveals }: Route, visitor: Visitor): boolean {
  if (role === 'open') return true;
  if (reveals && !visitor.mayReveal) return false;
  return visitor.role !== undefined && ROLES.indexOf(visitor.role) >= ROLES.indexOf(role);
}

describe.each(VISITORS)('$name', (visitor) => {
  test('may do what the table says, of every route, and nothing else', async () => {
    const house = await openHouse();
    const wrong: string[] = [];
    for (const route of ROUTES) {
      const { path, body } = await sampleOf(route, house);
      const headers = await visitor.headers(house);
      const before = await house.digest();
      const given = route.body === undefined ? {} : { body };
      const told = await house.ask(route.method, path, { headers, ...given });
      const what = `${route.method} ${path}: ${told.status} ${told.text.slice(0, 300)}`;
      const refusal = visitor.role === undefined ? 401 : 403;
      // A token that is wrong is told so wherever it is shown, also where nobody needs one.
      const isFit =
        isAllowed(route, visitor) && !(route.role === 'open' && visitor.name === 'a wrong token')
          ? !isRefused(told.status)
          : told.status === refusal;
      if (!isFit) wrong.push(what);
      if (told.status >= 400 && (await house.digest()) !== before) wrong.push(`changed by ${what}`);
    }
    expect(wrong).toEqual([]);
    expect(ROUTES.length).toBeGreaterThan(25);
  });
});

function isRefused(status: number): boolean {
  return status === 401 || status === 403 || status >= 500;
}

test('what an admin is answered has the status and the shape of the table', async () => {
  const house = await openHouse();
  const wrong: string[] = [];
  // A run in hand cannot be retried or put off, and a run that is not paused not resumed.
  const mayConflict = /\/(retry|reschedule|resume|pause)$/;
  for (const route of ROUTES) {
    // A stream does not end: what it tells is looked at where streams are.
    if (route.path === '/stream') continue;
    const { path, body } = await sampleOf(route, house);
    const given = route.body === undefined ? {} : { body };
    const headers = house.as(route.reveals ? 'rev' : 'ada');
    const told = await house.ask(route.method, path, { headers, ...given });
    if (told.status === 409 && mayConflict.test(route.path)) continue;
    const [also = route.answers.status] = Object.keys(route.answers.also ?? {}).map(Number);
    const fits = route.answers.schema.safeParse(told.body);
    if (told.status !== also || !fits.success) {
      const why = fits.success ? told.text.slice(0, 300) : z.prettifyError(fits.error);
      wrong.push(`${route.method} ${path}: ${told.status} ${why}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('a session without its csrf header may look, and change nothing', async () => {
  const house = await openHouse();
  const { cookie = '' } = await login(house, 'ada');
  for (const route of ROUTES) {
    const { path, body } = await sampleOf(route, house);
    const given = route.body === undefined ? {} : { body };
    const { status } = await house.ask(route.method, path, { headers: { cookie }, ...given });
    const is403 = route.method !== 'GET' || route.reveals === true;
    expect({ path, is403: status === 403 }).toEqual({ path, is403 });
  }
});

test('every route that changes something is a POST or a DELETE, and no GET changes anything', () => {
  const wrong = ROUTES.filter(({ method, changes }) => (method === 'GET') !== (changes === 'none'));
  expect(wrong).toEqual([]);
});

test('an unknown run is answered alike to all who may read, and nobody else learns of it', async () => {
  const house = await openHouse();
  const id = await taskOf(house, 'test/failing', 'failed');
  const unknown = '01JCQ8AAAAAAAAAAAAAAAAAAAA';
  const told = (of: string, headers: Readonly<Record<string, string>>) =>
    house.ask('GET', `${PREFIX}/runs/${of}`, { headers });
  expect((await told(unknown, house.as('ruth'))).status).toBe(404);
  const [known, missing] = [await told(id, {}), await told(unknown, {})];
  expect(known.text).toBe(missing.text);
  expect(known.status).toBe(401);
});

/** What people ask of a store: the same answers from every one, and those of `matches`. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isBlocked, LiveRoutes } from '../../src/fleet/blocked.ts';
import type { RunId } from '../../src/ground/index.ts';
import { EVERYTHING, type Filter, fingerprintOf, parseFilter } from '../../src/query/index.ts';
import { CursorError, StoreOptionsError, StoreUnreachableError } from '../../src/store/errors.ts';
import type { Page, PageQuery, StoreReader } from '../../src/store/reader.ts';
import { HOUR, ids, MINUTE, newId, ROUTE, segment } from './factories.ts';
import type { PlainRow, Scene } from './harness.ts';
import { HOSTILE } from './hostile-words.ts';

export interface ReaderScene {
  readonly reader: StoreReader;
  /** Every task that fits, page by page. */
  all(filter: Filter | string, more?: Partial<PageQuery>): Promise<RunId[]>;
}

/** A reader for every test. */
export function useReader(scene: Scene): ReaderScene {
  const made = {} as { reader: StoreReader };
  beforeEach(async () => {
    made.reader = await scene.store.openReader();
  });
  afterEach(() => made.reader.close());
  const all: ReaderScene['all'] = async (given, more = {}) => {
    const filter = typeof given === 'string' ? parseFilter(given) : given;
    const found: RunId[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 1_000; pages += 1) {
      const page: Page = await made.reader.page({ filter, countMax: 7, ...more, cursor });
      found.push(...ids(page.tasks));
      cursor = page.cursor;
      if (cursor === undefined) return found;
    }
    throw new Error('a list does not end');
  };
  return Object.assign(made, { all });
}

const ERROR = JSON.stringify({
  name: 'TypeError',
  code: 'NO_BUCKET',
  message: 'no "such" bucket 17',
});

export function describeReader(scene: Scene): void {
  const on = useReader(scene);
  const insert = (row: Partial<PlainRow> = {}) =>
    scene.harness.insertPlain({ machine: 'sample/one', task_id: newId(), ...row });
  let nowMs = 0;
  beforeEach(() => {
    nowMs = scene.harness.now();
  });
  const at = (agoMs: number) => nowMs - agoMs;

  /** One of everything; the newest last. */
  async function crowd() {
    const base = (agoMs: number) => ({ createdAt: at(agoMs), updatedAt: at(agoMs) });
    const ended = { finishedAt: at(HOUR) };
    return {
      old: await insert({ ...base(72 * HOUR), priority: 5, generation: 3 }),
      far: await insert({ ...base(26 * HOUR), machine: 'other/two', version: 12, key: 'order-7' }),
      done: await insert({
        ...base(5 * HOUR),
        ...ended,
        status: 'completed',
        outcome: 'completed',
      }),
      bad: await insert({
        ...{ ...base(4 * HOUR), ...ended, status: 'failed', outcome: 'aborted', error: ERROR },
        ...{ retry_count: 4, queue: 'slow', key: 'order-8' },
      }),
      gone: await insert({
        ...{
          ...base(3 * HOUR),
          ...ended,
          status: 'failed',
          outcome: 'timedOut',
          error: 'plain text',
        },
        discardedAt: at(MINUTE),
      }),
      held: await insert({
        ...{ ...base(2 * HOUR), status: 'claimed', claimed_by: 'pod-alder', claim_epoch: 1 },
        claims: 2,
      }),
      asleep: await insert({ ...base(HOUR), status: 'waiting', wait_for: 'sleep', paused: true }),
      odd: await insert({ ...base(MINUTE), crashes: 2, pinned_to: 'journal-x' }),
    };
  }

  test('every field finds what it names, and its contrary finds the rest', async () => {
    scene.isChecked = false;
    const made = await crowd();
    const { old, far, done, bad, gone, held, asleep, odd } = made;
    const fingerprint = fingerprintOf({ machine: 'sample/one', ...JSON.parse(ERROR) });
    const wanted: [string, string[]][] = [
      ['', [odd, asleep, held, gone, bad, done, far, old]],
      [`id:${bad}`, [bad]],
      [`id:${bad},${far},nobody`, [bad, far]],
      [
        `id:${bad.slice(0, 25)}*`,
        Object.values(made)
          .filter((id) => id.startsWith(bad.slice(0, 25)))
          .reverse(),
      ],
      ['id:*', [odd, asleep, held, gone, bad, done, far, old]],
      ['machine:other/two', [far]],
      ['machine:oth*,nobody', [far]],
      ['version:12', [far]],
      ['status:failed', [gone, bad]],
      ['status:failed,completed', [gone, bad, done]],
      ['status:c*', [held, done]],
      ['outcome:aborted', [bad]],
      ['queue:slow', [bad]],
      ['pod:pod-alder', [held]],
      ['pod:pod-*', [held]],
      ['key:order-7', [far]],
      ['key:order-7 machine:other/two', [far]],
      ['key:order-7 machine:sample/one', []],
      ['key:order-*', [bad, far]],
      ['wait:sleep', [asleep]],
      ['error:NO_BUCKET', [bad]],
      ['error:typeerr', [bad]],
      [`error:${fingerprint}`, [bad]],
      ['is:unfinished', [odd, asleep, held, far, old]],
      ['is:finished', [gone, bad, done]],
      ['is:paused', [asleep]],
      ['is:suspect', [odd]],
      ['is:pinned', [odd]],
      ['is:dead-letter', [bad]],
      ['is:discarded', [gone]],
      ['is:discarded,pinned', [odd, gone]],
      ['priority:>=5', [old]],
      ['retries:2..5', [bad]],
      ['crashes:>1', [odd]],
      ['claims:2', [held]],
      ['generation:3', [old]],
      ['created:<90m', [odd, asleep]],
      ['created:>1d', [far, old]],
      ['updated:>1d', [far, old]],
      ['finished:<2h', [gone, bad, done]],
      ['"such"', [bad]],
      ['NO_BUCKET', [bad]],
      ['"bucket 17"', [bad]],
      ['plain', [gone]],
      ['ORDER-7', [far]],
      ['other/TWO', [far]],
      ['status:failed machine:sample/one -is:discarded retries:>3', [bad]],
    ];
    const everything = [odd, asleep, held, gone, bad, done, far, old];
    for (const [text, found] of wanted) {
      expect(await on.all(text), text).toEqual(found);
      expect(await on.reader.count({ filter: parseFilter(text), countMax: 1 }), text).toEqual({
        count: found.length,
        isExact: true,
      });
      if (text === '' || /^\S+ \S/.test(text)) continue;
      const others = everything.filter((id) => !found.includes(id));
      expect(await on.all(`-${text}`), `-${text}`).toEqual(others);
    }
  });

  test('a glance is the row without what is large', async () => {
    const id = await insert({ payload: '{"a":1}', key: 'k' });
    const [glance] = (await on.reader.page({ filter: EVERYTHING, countMax: 1 })).tasks;
    const { payload, result, ...row } = await scene.row(id);
    expect(glance).toEqual(row);
    expect([payload, result]).toEqual(['{"a":1}', undefined]);
    expect(glance).not.toHaveProperty('payload');
  });

  test('pages go on where they ended, whatever is inserted meanwhile', async () => {
    const made: string[] = [];
    // Several of one instant: then ids decide.
    for (let n = 0; n < 12; n += 1)
      made.push(await insert({ createdAt: at((12 - (n >> 2)) * HOUR) }));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await on.reader.page({ filter: EVERYTHING, countMax: 5, cursor });
      seen.push(...ids(page.tasks));
      cursor = page.cursor;
      if (cursor !== undefined) await insert();
    } while (cursor !== undefined);
    expect(seen).toEqual(made.reverse());
  });

  test('a page may begin behind a task, also among those of one instant and of another filter', async () => {
    const made: RunId[] = [];
    for (let n = 0; n < 6; n += 1) {
      made.unshift((await insert({ createdAt: at(HOUR) })) as RunId);
    }
    const slowest = (await insert({ createdAt: at(2 * HOUR), queue: 'slow' })) as RunId;
    const [, , third] = made;
    const page = await on.reader.page({ filter: EVERYTHING, countMax: 2, before: third });
    expect(ids(page.tasks)).toEqual(made.slice(3, 5));
    const { cursor } = page;
    const rest = await on.reader.page({ filter: EVERYTHING, countMax: 9, cursor });
    expect(ids(rest.tasks)).toEqual([made[5], slowest]);
    const slow = { filter: parseFilter('queue:slow'), countMax: 9 };
    expect(ids((await on.reader.page({ ...slow, before: third })).tasks)).toEqual([slowest]);
    expect(ids((await on.reader.page({ ...slow, before: slowest })).tasks)).toEqual([]);
    const nobody = on.reader.page({ ...slow, before: `${third}0` as RunId });
    await expect(nobody).rejects.toThrow(CursorError);
  });

  test('a page that ends with its list has no cursor', async () => {
    for (let n = 0; n < 4; n += 1) await insert();
    const page = await on.reader.page({ filter: EVERYTHING, countMax: 4 });
    expect(page).toMatchObject({ cursor: undefined, lookedBackTo: undefined });
    expect(page.tasks).toHaveLength(4);
    const { cursor } = await on.reader.page({ filter: EVERYTHING, countMax: 3 });
    expect(cursor).toMatch(/^[\w-]+$/);
  });

  test('a cursor of another list, or of none, is refused', async () => {
    for (let n = 0; n < 3; n += 1) await insert();
    const { cursor } = await on.reader.page({ filter: EVERYTHING, countMax: 1 });
    const page = (given: string, filter = EVERYTHING) =>
      on.reader.page({ filter, countMax: 1, cursor: given });
    await expect(page(cursor!, parseFilter('status:failed'))).rejects.toThrow(CursorError);
    const forged = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    const list = JSON.parse(Buffer.from(cursor!, 'base64url').toString())[1] as string;
    const texts = ['', '%', 'AAAA', forged(1), forged([1, list, 0, 'x', 'y']), 'x'.repeat(10_000)];
    const times = ['2026-02-30 00:00:00.000000', '0000-01-01 00:00:00.000000', '1e99', 'infinity'];
    for (const text of [...texts, ...times.map((time) => forged([1, list, 0, time, 'y']))]) {
      await expect(page(text), text.slice(0, 50)).rejects.toThrow(CursorError);
    }
    await expect(page(forged([1, list, 0, null, 'a\0b']))).rejects.toThrow(CursorError);
  });

  test('where the time is over a page tells how far it looked, and the next goes on', async () => {
    const needle = await insert({ createdAt: at(50 * HOUR), queue: 'needle' });
    for (let n = 0; n < 30; n += 1) await insert({ createdAt: at((40 - n) * HOUR) });
    const found = await on.all('queue:needle', { budgetMs: 0, countMax: 1 });
    expect(found).toEqual([needle]);
    await expect(on.all('', { budgetMs: -1 })).rejects.toThrow(StoreOptionsError);
  });

  test('relative times are counted from the first page on', async () => {
    const first = await insert({ createdAt: at(90 * MINUTE) });
    const second = await insert({ createdAt: at(80 * MINUTE) });
    const filter = parseFilter('created:<100m');
    const page = await on.reader.page({ filter, countMax: 1 });
    expect(ids(page.tasks)).toEqual([second]);
    const next = await on.reader.page({
      ...{ filter, countMax: 1, cursor: page.cursor },
      nowMs: scene.harness.now() + 10 * HOUR,
    });
    expect(ids(next.tasks)).toEqual([first]);
  });

  test('words that mean something elsewhere mean nothing here', async () => {
    scene.isChecked = false;
    const plain = await insert({ queue: 'plain', key: 'plain', error: '{"message":"plain"}' });
    const held = new Map<string, string>();
    for (const word of HOSTILE) {
      if (/\0|\p{Cs}/u.test(word) || word.length > 1_000) continue;
      held.set(
        word,
        await insert({ queue: word, error: JSON.stringify({ message: `<${word}>` }) }),
      );
    }
    for (const word of HOSTILE) {
      const id = held.get(word);
      const named: Filter = {
        terms: [{ kind: 'words', field: 'queue', isNot: false, words: [word] }],
      };
      // A star at the end is no letter.
      if (!word.endsWith('*')) expect(await on.all(named), word).toEqual(id ? [id] : []);
      const words = [word.replace(/\*+$/, '')];
      const others = (['id', 'key', 'pod', 'machine', 'error', 'outcome'] as const).map(
        (field): Filter => ({ terms: [{ kind: 'words', field, isNot: false, words }] }),
      );
      const found = await Promise.all(others.map((filter) => on.all(filter)));
      if (words[0] !== '') expect(found.flat(), word).toEqual([]);
      const text: Filter = { terms: [{ kind: 'text', isNot: false, text: `<${word}>` }] };
      expect(await on.all(text), word).toEqual(id ? [id] : []);
    }
    expect(await on.all('queue:plain')).toEqual([plain]);
  });

  test('rows that a person has filled with anything break no page', async () => {
    scene.isChecked = false;
    const ended = { status: 'failed', finishedAt: at(0) };
    const huge = 'ä'.repeat(200_000);
    const made = [
      await insert({ ...ended, error: '{"not json' }),
      await insert({ ...ended, error: 'null' }),
      await insert({ ...ended, error: '[1]' }),
      await insert({ ...ended, error: '{"message":{"deep":1},"code":7}' }),
      await insert({ ...ended, error: huge, queue: huge }),
      // As a program that writes nothing but ASCII would.
      await insert({ ...ended, error: '{"message":"caf\\u00e9 \\u0041\\/B"}' }),
      await insert({ task_id: `odd '"\\%_ ${newId()} 🦆`, status: 'completed', finishedAt: at(0) }),
      await insert({ createdAt: -62_135_596_800_000, status: 'completed', finishedAt: at(0) }),
      await insert({ createdAt: 253_402_214_400_000, status: 'completed', finishedAt: at(0) }),
    ];
    expect((await on.all('')).sort()).toEqual([...made].sort());
    expect((await on.all('status:failed')).sort()).toEqual(made.slice(0, 6).sort());
    expect(await on.all('error:7')).toEqual([made[3]]);
    expect(await on.all('café')).toEqual([made[5]]);
    expect(await on.all('"a/b"')).toEqual([made[5]]);
    const { groups } = await on.reader.errors({ filter: EVERYTHING, countMax: 100 });
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(6);
    const [glance] = (await on.reader.page({ filter: parseFilter(`id:${made[4]}`), countMax: 1 }))
      .tasks;
    expect(glance!.error!.length).toBeLessThan(100_000);
  });

  test('blocked are those that no live pod could go on with', async () => {
    const routes = ['sample/one@3', 'sample/one@2', 'other/two@1'];
    const live = new LiveRoutes([{ status: 'up', routes }]);
    for (const machine of ['sample/one', 'other/two', 'third/three']) {
      for (const version of [1, 2, 4]) {
        await insert({ machine, version });
        await insert({ machine, version, crashes: 2 });
        await insert({ machine, version, status: 'waiting', wait_for: 'version' });
        await insert({ machine, version, pinned_to: 'journal-x' });
        await insert({ machine, version, status: 'completed', finishedAt: at(0) });
      }
    }
    const rows = await scene.store.list({ countMax: 100 });
    const blocked = rows.filter((row) => isBlocked(live, row));
    expect(blocked.length).toBeGreaterThan(10);
    const found = await on.all('is:blocked', { liveRoutes: routes });
    expect(found.sort()).toEqual(ids(blocked).sort());
    const others = await on.all('-is:blocked', { liveRoutes: routes });
    expect(others).toHaveLength(rows.length - blocked.length);
    expect(await on.all('is:blocked', { liveRoutes: [] })).toEqual([]);
    // Where nothing is said, the reader asks who is up.
    await scene.pod('alder', { routes });
    expect(await on.all('is:blocked')).toHaveLength(blocked.length);
  });

  test('errors are put together by what is the same about them', async () => {
    scene.isChecked = false;
    const fail = (message: string, agoMs: number, more: Partial<PlainRow> = {}) =>
      insert({
        ...{ status: 'failed', outcome: 'aborted', createdAt: at(agoMs), finishedAt: at(agoMs) },
        ...{ error: JSON.stringify({ code: 'E', message }), ...more },
      });
    await fail('no bucket 17', 3 * HOUR);
    await fail('no bucket 18', 2 * HOUR);
    const newest = await fail('no bucket 19', HOUR);
    await fail('no bucket 19', HOUR, { machine: 'other/two' });
    await insert({ status: 'cancelled', finishedAt: at(0), error: '{"code":"E"}' });
    const { groups, lookedBackTo } = await on.reader.errors({ filter: EVERYTHING, countMax: 10 });
    expect(lookedBackTo).toBeUndefined();
    expect(groups).toMatchObject([
      {
        ...{ machine: 'sample/one', count: 3, example: newest, name: 'E', outcome: 'aborted' },
        ...{ message: 'no bucket 19', fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) },
      },
      { machine: 'other/two', count: 1 },
    ]);
    expect(groups[0]!.lastAt - groups[0]!.firstAt).toBe(2 * HOUR);
    const same = await on.all(`error:${groups[0]!.fingerprint}`);
    expect(same).toHaveLength(3);
    const ofOne = { filter: parseFilter('machine:other/two'), countMax: 10 };
    expect((await on.reader.errors(ofOne)).groups).toHaveLength(1);
  });

  test('a histogram counts by time and status', async () => {
    const fromMs = at(10 * HOUR);
    const untilMs = fromMs + 10 * HOUR;
    await insert({ createdAt: fromMs - 1 });
    await insert({ createdAt: fromMs });
    await insert({ createdAt: fromMs + 2 * HOUR - 1 });
    await insert({ createdAt: fromMs + 2 * HOUR, status: 'completed', finishedAt: at(0) });
    await insert({ createdAt: untilMs - 1, key: 'needle' });
    await insert({ createdAt: untilMs });
    const query = { filter: EVERYTHING, fromMs, untilMs, buckets: 5 };
    const histogram = await on.reader.histogram(query);
    expect(histogram.buckets).toEqual([
      { fromMs, untilMs: fromMs + 2 * HOUR, byStatus: { pending: 2 } },
      { fromMs: fromMs + 2 * HOUR, untilMs: fromMs + 4 * HOUR, byStatus: { completed: 1 } },
      { fromMs: fromMs + 4 * HOUR, untilMs: fromMs + 6 * HOUR, byStatus: {} },
      { fromMs: fromMs + 6 * HOUR, untilMs: fromMs + 8 * HOUR, byStatus: {} },
      { fromMs: fromMs + 8 * HOUR, untilMs, byStatus: { pending: 1 } },
    ]);
    expect(histogram.lookedBackTo).toBeUndefined();
    const some = await on.reader.histogram({ ...query, filter: parseFilter('needle') });
    expect(some.buckets.map(({ byStatus }) => byStatus)).toEqual([{}, {}, {}, {}, { pending: 1 }]);
    for (const bad of [
      { buckets: 0 },
      { buckets: 1.5 },
      { untilMs: fromMs },
      { fromMs: Number.NaN },
    ]) {
      await expect(on.reader.histogram({ ...query, ...bad })).rejects.toThrow(StoreOptionsError);
    }
  });

  test('the audit log is read by page, by task, by person and by deed', async () => {
    const task = newId();
    for (let n = 0; n < 9; n += 1) {
      await scene.harness.insertAudit({
        ...{ id: `request-${n}`, at: at(HOUR) + (n >> 1), who: n % 3 === 0 ? 'alice' : 'bob' },
        ...{ what: n % 2 === 0 ? 'cancel' : 'pause', detail: '{"via":"cli"}' },
        ...(n === 4 ? { task_id: task } : {}),
      });
    }
    const list = async (query: object) => {
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await on.reader.audit({ countMax: 2, ...query, cursor });
        found.push(...page.rows.map(({ requestId }) => requestId.slice(-1)));
        cursor = page.cursor;
      } while (cursor !== undefined);
      return found.join('');
    };
    expect(await list({})).toBe('876543210');
    expect(await list({ who: 'alice' })).toBe('630');
    expect(await list({ what: 'cancel', who: 'bob' })).toBe('842');
    expect(await list({ task })).toBe('4');
    expect(await list({ task, who: 'alice' })).toBe('');
    expect(await list({ who: `'; drop table audit_log; --` })).toBe('');
    expect(await list({ who: 'a\0' })).toBe('');
    expect((await on.reader.audit({ task, countMax: 1 })).rows).toEqual([
      {
        ...{ requestId: 'request-4', at: expect.any(Number), who: 'bob', what: 'cancel', task },
        detail: '{"via":"cli"}',
      },
    ]);
    const { cursor } = await on.reader.audit({ countMax: 2 });
    await expect(on.reader.audit({ who: 'bob', countMax: 2, cursor })).rejects.toThrow(CursorError);
  });

  test('a term of a leader is remembered once, and forgotten with the rest', async () => {
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    await scene.store.beginTerm(alder, 1);
    await scene.store.beginTerm(alder, 1);
    await scene.pass(HOUR);
    await scene.store.beginTerm(birch, 1);
    await scene.pass(HOUR);
    await scene.store.beginTerm(alder, 2);
    const terms = await on.reader.leaderTerms(10);
    expect(terms).toMatchObject([
      { pod: alder, name: 'alder' },
      { pod: birch, name: 'birch' },
      { pod: alder, name: 'alder' },
    ]);
    expect(terms[0]!.since - terms[2]!.since).toBeGreaterThan(2 * HOUR - MINUTE);
    expect(await on.reader.leaderTerms(1)).toEqual(terms.slice(0, 1));
    await scene.pass(HOUR);
    await scene.store.prune(90 * MINUTE, 1);
    expect(await on.reader.leaderTerms(10)).toHaveLength(2);
    await scene.store.prune(0, 10);
    expect(await on.reader.leaderTerms(10)).toMatchObject([{ pod: alder }]);
  });

  test('a reader answers what the store answers of pods, routes, tasks and histories', async () => {
    const pod = await scene.pod('alder');
    await scene.store.announce([{ route: ROUTE, fingerprint: 'f', shape: 's' }]);
    const claim = await scene.claimNew(pod);
    await scene.store.archive([segment(claim, 0, 2)]);
    const { reader } = on;
    const run = { task: claim.task, generation: 1 };
    expect(await reader.find([claim.task, newId(), 'a\0' as RunId])).toEqual(
      await scene.store.find([claim.task]),
    );
    expect(await reader.histories([run, { ...run, task: 'a\0' as RunId }])).toEqual(
      await scene.store.histories([run]),
    );
    await scene.store.archive([segment(claim, 3, 3)]);
    const asked = [run, { ...run, generation: 2 }, { ...run, task: 'a\0' as RunId }];
    expect(await reader.lastSegments(asked)).toEqual([segment(claim, 3, 3)]);
    const long = { ...segment(claim, 4, 4), events: JSON.stringify(['x'.repeat(70_000)]) };
    await scene.store.archive([long]);
    expect(await reader.lastSegments([run])).toEqual([{ ...long, events: '[]' }]);
    expect(await reader.lastSegments([])).toEqual([]);
    const [row] = await reader.pods();
    expect(row).toMatchObject({ pod, status: 'up', claimCount: 1 });
    expect(await reader.known()).toEqual(await scene.store.known());
    expect(await reader.inFlight()).toEqual(await scene.store.inFlight());
    expect(Math.abs((await reader.now()) - scene.harness.now())).toBeLessThan(60_000);
  });

  test('a reader that was closed says so, also under a question', async () => {
    for (let n = 0; n < 20; n += 1) await insert();
    const reader = await scene.store.openReader();
    const asked = reader.errors({ filter: parseFilter('nothing'), countMax: 5 });
    const going = reader.page({ filter: parseFilter('-nothing is:unfinished'), countMax: 5 });
    await reader.close();
    await reader.close();
    for (const answer of [asked, going]) {
      const outcome = await answer.then(
        () => 'answered',
        (error: unknown) => error,
      );
      if (outcome !== 'answered') expect(outcome).toBeInstanceOf(StoreUnreachableError);
    }
    await expect(reader.page({ filter: EVERYTHING, countMax: 1 })).rejects.toThrow(
      'the reader has been closed',
    );
    await expect(reader.find([newId()])).rejects.toThrow(StoreUnreachableError);
    await expect(reader.audit({ countMax: 1 })).rejects.toThrow('the reader has been closed');
  });

  test('a reader wants limits that are some', async () => {
    for (const bad of [{ connectionsMax: 0 }, { statementMs: 1 }, { statementMs: Number.NaN }]) {
      await expect(scene.store.openReader(bad)).rejects.toThrow(StoreOptionsError);
    }
    await expect(scene.store.openReader({ url: 'http://elsewhere' })).rejects.toThrow(
      StoreOptionsError,
    );
  });
}

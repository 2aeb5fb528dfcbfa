/** Where a claim begins to look: from the beginning, or where this pod has last taken something. */
import { expect, test } from 'vitest';
import { ClaimEdge } from '../../src/store/postgres/claim-edge.ts';

const ROUTE = 'sample/one@1';
const NONE = Number.NEGATIVE_INFINITY;

function row(readyAt: number, more: object = {}) {
  return { route: ROUTE, queue: 'mail', priority: 0, head: 'ready', ready_at: readyAt, ...more };
}

/** So many looks from the beginning, one after the other, each of which takes so long. */
function edgeAfter(looks: number, tookMs: number): { edge: ClaimEdge; nowMs: number } {
  const edge = new ClaimEdge();
  let nowMs = 0;
  for (let look = 0; look < looks; look += 1) {
    expect(edge.isWhole(nowMs)).toBe(true);
    nowMs += tookMs;
    edge.looked(true, [], { nowMs, tookMs });
  }
  return { edge, nowMs };
}

test('a claim looks from the beginning as long as that is quick, or slow but for a while', () => {
  const quick = edgeAfter(100, 20);
  expect(quick.edge.isWhole(quick.nowMs)).toBe(true);
  const slow = edgeAfter(4, 200);
  expect(slow.edge.isWhole(slow.nowMs)).toBe(true);
  slow.edge.looked(true, [], { nowMs: slow.nowMs + 5, tookMs: 5 });
  slow.edge.looked(true, [], { nowMs: slow.nowMs + 205, tookMs: 200 });
  expect(slow.edge.isWhole(slow.nowMs + 205)).toBe(true);
});

test('where looks from the beginning stay slow, they take a small share of the time', () => {
  const { edge, nowMs } = edgeAfter(5, 200);
  edge.looked(false, [], { nowMs: nowMs + 5, tookMs: 5 });
  expect(edge.isWhole(nowMs + 4_999)).toBe(false);
  expect(edge.isWhole(nowMs + 5_000)).toBe(true);
  let at = nowMs + 5_000;
  for (let look = 0; look < 20; look += 1) {
    at += 200;
    edge.looked(true, [], { nowMs: at, tookMs: 200 });
  }
  // A pod alone does so for a tenth of the time, or what came back would wait for long.
  expect(edge.isWhole(at + 5_000)).toBe(true);
  edge.sharedBy(32);
  edge.looked(true, [], { nowMs: at, tookMs: 200 });
  expect(edge.isWhole(at + 19_999)).toBe(false);
  expect(edge.isWhole(at + 20_000)).toBe(true);
  edge.looked(true, [], { nowMs: at + 20_010, tookMs: 10 });
  expect(edge.isWhole(at + 20_010)).toBe(true);
});

test('where a look at known places takes as long, the index is not what is slow', () => {
  const { edge, nowMs } = edgeAfter(5, 200);
  edge.looked(false, [], { nowMs: nowMs + 100, tookMs: 100 });
  expect(edge.isWhole(nowMs + 100)).toBe(true);
});

test('a place is known from a little before the last task that was taken there', () => {
  const edge = new ClaimEdge();
  const looked = (...rows: object[]) => edge.looked(true, rows as never, { nowMs: 0, tookMs: 1 });
  expect(edge.knownOf([ROUTE])).toEqual([[], [], [], []]);
  looked(row(100), row(107), row(90, { queue: 'own', priority: 9 }), row(500, { route: 'two@1' }));
  // More of what came back with an old due time lies right behind it.
  looked(row(50), row(52));
  edge.looked(false, [row(51) as never], { nowMs: 0, tookMs: 0 });
  expect(edge.knownOf([ROUTE])).toEqual([
    [ROUTE, ROUTE],
    [-10, -1],
    ['own', 'mail'],
    [89, 51],
  ]);
  expect(edge.knownOf(['two@1'])).toEqual([['two@1'], [-1], ['mail'], [499]]);
});

test('sleepers are known by their due time alone, and what is pinned not at all', () => {
  const edge = new ClaimEdge();
  const rows = [row(100, { head: 'due' }), row(90, { head: 'due', queue: 'own' })];
  edge.looked(true, [...rows, row(200, { head: 'pinned' })], { nowMs: 0, tookMs: 1 });
  expect(edge.knownOf([ROUTE])).toEqual([[], [], [], []]);
  expect(edge.dueFromOf([ROUTE, 'two@1'])).toEqual([99, NONE]);
});

test('of more places than can be remembered those that were taken from last are', () => {
  const edge = new ClaimEdge();
  for (let n = 0; n < 1_500; n += 1) {
    edge.looked(true, [row(n, { queue: `queue-${n % 1_200}` })], { nowMs: 0, tookMs: 1 });
  }
  const [, , queues] = edge.knownOf([ROUTE]);
  expect(queues).toHaveLength(1_000);
  expect(queues).toContain('queue-299');
  expect(queues).not.toContain('queue-300');
});

/** The search for an order, on small registers and on the claim of a task. */
import { expect, test } from 'vitest';
import { claimRegister, registerCalls } from './claim-register.ts';
import type { Change, StoreCall } from './evidence.ts';
import { CALLS_MAX, type Call, linearityOf, type Model } from './linearize.ts';
import { CALLS, CLAIMS, change, fileOf, settleCall, task } from './made-history.ts';

type Op = { readonly write: number } | { readonly read: number };

const register: Model<number, Op> = {
  start: 0,
  keyOf: String,
  next: (value, op) => ('write' in op ? [op.write] : op.read === value ? [value] : []),
};

function call(fromMs: number, toMs: number, op: Op, isOptional = false): Call<Op> {
  return { fromMs, toMs, op, isOptional };
}

test('calls that overlap may have happened in either order', () => {
  const writes = [call(0, 10, { write: 1 }), call(5, 15, { write: 2 })];
  expect(linearityOf([...writes, call(20, 30, { read: 1 })], register)).toBe('linear');
  expect(linearityOf([...writes, call(20, 30, { read: 2 })], register)).toBe('linear');
});

test('an answer is not taken back: what was read once is there for whoever asks later', () => {
  const written = call(0, 100, { write: 1 });
  const reads = [call(10, 20, { read: 1 }), call(30, 40, { read: 0 })];
  expect(linearityOf([written, ...reads], register)).toBe('broken');
  expect(linearityOf([written, reads[0]!, call(15, 40, { read: 0 })], register)).toBe('linear');
});

test('a call without an answer may have happened, late or not at all', () => {
  const lost = call(0, Number.POSITIVE_INFINITY, { write: 1 }, true);
  expect(linearityOf([lost, call(10, 20, { read: 0 })], register)).toBe('linear');
  expect(linearityOf([lost, call(10, 20, { read: 1 })], register)).toBe('linear');
  const both = [call(10, 20, { read: 1 }), call(30, 40, { read: 0 })];
  expect(linearityOf([lost, ...both], register)).toBe('broken');
});

test('the search agrees with trying every order', () => {
  let number = 12_345;
  const below = (limit: number) => {
    number = (number * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((number / 2_147_483_648) * limit);
  };
  const found = { linear: 0, broken: 0, undecided: 0 };
  for (let round = 0; round < 2_000; round += 1) {
    const calls = Array.from({ length: 2 + below(4) }, () => {
      const [fromMs, value] = [below(20), below(3)];
      const op = below(2) === 0 ? { write: value } : { read: value };
      return call(fromMs, fromMs + 1 + below(12), op, below(6) === 0);
    });
    const linearity = linearityOf(calls, register);
    found[linearity] += 1;
    expect(linearity).toBe(hasOrder(calls, 0, 0) ? 'linear' : 'broken');
  }
  expect(found.linear).toBeGreaterThan(300);
  expect(found.broken).toBeGreaterThan(300);
});

/** By brute force: the next is any whose call is not after another's answer. */
function hasOrder(left: readonly Call<Op>[], value: number, begunMs: number): boolean {
  if (left.every(({ isOptional }) => isOptional)) return true;
  return left.some((one) => {
    const others = left.filter((each) => each !== one);
    if (others.some(({ toMs, isOptional }) => !isOptional && toMs < one.fromMs)) return false;
    if (one.toMs < begunMs) return false;
    const latestMs = Math.max(begunMs, one.fromMs);
    return register.next(value, one.op).some((next) => hasOrder(others, next, latestMs));
  });
}

test('a call without an answer has happened by the end, or never will', () => {
  const lost = call(0, 50, { write: 1 }, true);
  expect(linearityOf([lost, call(60, 70, { read: 0 })], register)).toBe('linear');
  expect(linearityOf([lost, call(60, 70, { read: 1 })], register)).toBe('linear');
  const late = [call(60, 70, { read: 0 }), call(80, 90, { read: 1 })];
  expect(linearityOf([lost, ...late], register)).toBe('broken');
});

test('a history that is too long is not decided', () => {
  const calls = Array.from({ length: CALLS_MAX + 1 }, () => call(0, 1, { write: 1 }));
  expect(linearityOf(calls, register)).toBe('undecided');
});

const linearityOfCalls = (calls: readonly StoreCall[], changes: readonly Change[]) =>
  linearityOf(registerCalls(calls, changes), claimRegister);

test('a settlement whose answer was lost, and which is sent again, fits', () => {
  const sent = CALLS.slice(0, 3);
  const lost = settleCall('pod-3', 3, 31_900, undefined, undefined);
  const again = settleCall('pod-3', 3, 32_900, 33_100, 'done');
  expect(linearityOfCalls([...sent, lost, again], fileOf().changes)).toBe('linear');
});

test('a claim whose answer was lost is known by the witness', () => {
  const told = CALLS.filter(({ pod }) => pod !== 'pod-1');
  expect(linearityOfCalls(told, fileOf().changes)).toBe('linear');
  expect(linearityOfCalls(told, fileOf().changes.slice(1))).toBe('broken');
});

test('two pods that are both told that their settlement stood do not fit', () => {
  const early = settleCall('pod-1', 1, 15_000, 15_500, 'stood');
  expect(linearityOfCalls([...CALLS, early], fileOf().changes)).toBe('broken');
  const late = settleCall('pod-1', 1, 15_000, 31_000, 'lost');
  expect(linearityOfCalls([...CALLS, late], [...CLAIMS])).toBe('linear');
});

test('a pod that is dead has lost its claims before anybody has taken them', () => {
  const lost = settleCall('pod-1', 1, 15_000, 15_500, 'lost');
  const told = (diedAt: number) =>
    linearityOf(
      registerCalls([...CALLS, lost], fileOf().changes, { diedAt: () => diedAt }),
      claimRegister,
    );
  expect(told(15_200)).toBe('linear');
  expect(told(15_900)).toBe('broken');
});

test('what the row is at the end is the last word', () => {
  const end = (status: string, epoch: number) =>
    linearityOf(registerCalls(CALLS, fileOf().changes, { row: { status, epoch } }), claimRegister);
  expect(end('completed', 3)).toBe('linear');
  expect(end('claimed', 3)).toBe('broken');
  expect(end('completed', 1)).toBe('broken');
});

test('a redrive, which no pod is told of, opens what had ended', () => {
  const redriven = change('completed', 3, 'pending', 4, undefined, { generation: 2 });
  const again = { call: 'claim', pod: 'pod-5', fromMs: 40_000, toMs: 40_100 } as const;
  const calls = [...CALLS, { ...again, tasks: [{ task, epoch: 5 }] }];
  expect(linearityOfCalls(calls, [...fileOf().changes, redriven])).toBe('linear');
  expect(linearityOfCalls(calls, fileOf().changes)).toBe('broken');
});

/** Write-behind: what reaches the store when, and who waits for it. */
import { beforeEach, expect, test } from 'vitest';
import { Archiver } from '../../src/fleet/archiver.ts';
import { HeldRun } from '../../src/fleet/held-run.ts';
import { Holdings } from '../../src/fleet/holdings.ts';
import type { Keeper } from '../../src/fleet/keeper.ts';
import type { RunId } from '../../src/ground/index.ts';
import { MemoryStore, MemoryTables } from '../../src/store/index.ts';
import { hashAt, newId } from '../store/factories.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gate } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Wire } from './support.ts';

const EVERY_MS = 1_000;

let clock: FakeClock;
let tables: MemoryTables;
let wire: Wire;
let direct: MemoryStore;
let holdings: Holdings;
let archiver: Archiver;
let forked: HeldRun[];

beforeEach(() => {
  clock = new FakeClock();
  wire = new Wire();
  tables = new MemoryTables({ clock, random: seededRandom(1) });
  direct = new MemoryStore(tables);
  holdings = new Holdings();
  forked = [];
  archiver = new Archiver({
    store: new MemoryStore(tables, { way: wire.way }),
    clock,
    random: seededRandom(2),
    holdings,
    everyMs: EVERY_MS,
    onForked: (held) => {
      forked.push(held);
      held.isOver = true;
      holdings.remove(held);
    },
  });
});

const keeper = {
  grew: () => {
    holdings.unflushed++;
    archiver.grew();
  },
} as unknown as Keeper;

function hold(): HeldRun {
  const task = { task: newId(), generation: 1, epoch: 1, keyGeneration: 1 };
  tables.insert({ machine: 'sample/one', taskId: task.task });
  const held = new HeldRun(task, { seq: -1, hash: '', state: undefined }, keeper);
  holdings.put(held);
  return held;
}

function record(held: HeldRun, seq: number, branch = ''): void {
  held.recorded({
    seq,
    at: 0,
    epoch: 1,
    event: 'DONE',
    state: 'main.work',
    data: '{"type":"DONE"}',
    hash: hashAt(held.claim.task, seq, branch),
  });
}

const lastSeq = async (task: RunId) =>
  (await direct.heads([{ task, generation: 1 }]))[0]?.lastSeq ?? -1;

test('records are there after the interval and not before, and nothing is sent twice', async () => {
  archiver.start();
  const held = hold();
  record(held, 0);
  record(held, 1);
  await clock.advance(EVERY_MS - 1);
  expect(await lastSeq(held.claim.task)).toBe(-1);
  await clock.advance(1);
  expect(await lastSeq(held.claim.task)).toBe(1);
  expect(holdings.unflushed).toBe(0);
  await clock.advance(5 * EVERY_MS);
  expect(wire.asked).toEqual(['archive']);
});

test('five thousand records are sent at once', async () => {
  archiver.start();
  const held = hold();
  for (let seq = 0; seq < 5_000; seq++) record(held, seq);
  await clock.advance(0);
  expect(await lastSeq(held.claim.task)).toBe(4_999);
  expect(holdings.unflushed).toBe(0);
});

test('whoever must not repeat a phase waits until the store has it', async () => {
  archiver.start();
  const held = hold();
  record(held, 0);
  wire.isCut = true;
  let isThere = false;
  const flushed = archiver.flush(held).then(() => {
    isThere = true;
  });
  await clock.advance(10_000);
  expect(isThere).toBe(false);
  wire.isCut = false;
  await clock.advance(1_000);
  await flushed;
  expect(await lastSeq(held.claim.task)).toBe(0);
});

test('a record that comes while an earlier one is on its way is waited for too', async () => {
  archiver.start();
  const held = hold();
  const answer = gate();
  wire.holdsAnswers.set('archive', answer.opened);
  record(held, 0);
  await clock.advance(EVERY_MS);
  record(held, 1);
  let seen = -1;
  const flushed = archiver.flush(held).then(async () => {
    seen = await lastSeq(held.claim.task);
  });
  wire.holdsAnswers.clear();
  answer.open();
  await clock.advance(100);
  await flushed;
  expect(seen).toBe(1);
});

test('runs that nobody waits for are archived even where somebody always waits', async () => {
  archiver.start();
  const [quiet, busy] = [hold(), hold()];
  record(quiet, 0);
  for (let seq = 0; seq < 40; seq++) {
    record(busy, seq);
    const flushed = archiver.flush(busy);
    await clock.advance(EVERY_MS / 10);
    await flushed;
  }
  expect(await lastSeq(quiet.claim.task)).toBe(0);
});

test('an answer that was lost is harmless: the same is sent again', async () => {
  archiver.start();
  const held = hold();
  record(held, 0);
  wire.losesAnswers.set('archive', 1);
  await clock.advance(EVERY_MS);
  record(held, 1);
  await clock.advance(3 * EVERY_MS);
  expect(await lastSeq(held.claim.task)).toBe(1);
  expect(holdings.unflushed).toBe(0);
});

test('other records under the same numbers are said, never overwritten', async () => {
  archiver.start();
  const held = hold();
  const { task } = held.claim;
  const there = { ...held.claim, firstSeq: 0, lastSeq: 0, prevHash: '', state: 'main.work' };
  await direct.archive([{ ...there, lastHash: hashAt(task, 0, 'other'), events: '[1]' }]);
  record(held, 0);
  const flushed = archiver.flush(held);
  await clock.advance(EVERY_MS);
  await flushed;
  expect(forked).toEqual([held]);
  const [head] = await direct.heads([{ task, generation: 1 }]);
  expect(head!.lastHash).toBe(hashAt(task, 0, 'other'));
});

test('a record of a run that is over counts for nothing, or the count would grow for ever', () => {
  const held = hold();
  record(held, 0);
  held.isOver = true;
  holdings.remove(held);
  record(held, 1);
  expect(holdings.unflushed).toBe(0);
});

test('a stopped one keeps nobody waiting and sends nothing', async () => {
  archiver.start();
  const held = hold();
  record(held, 0);
  wire.isCut = true;
  const flushed = archiver.flush(held);
  await clock.advance(100);
  archiver.stop();
  await flushed;
  wire.isCut = false;
  await clock.advance(10_000);
  expect(await lastSeq(held.claim.task)).toBe(-1);
});

test('a pod that leaves sends everything at once', async () => {
  archiver.start();
  const runs = [hold(), hold()];
  for (const held of runs) record(held, 0);
  await archiver.flushNow();
  for (const held of runs) expect(await lastSeq(held.claim.task)).toBe(0);
});

test('a run whose task was removed is given up, and leaves no records behind', async () => {
  archiver.start();
  const held = hold();
  record(held, 0);
  tables.tasks.delete(held.claim.task);
  await clock.advance(EVERY_MS + 10);
  expect(forked).toEqual([held]);
  expect(await lastSeq(held.claim.task)).toBe(-1);
  expect(holdings.unflushed).toBe(0);
});

/** Many writers, one transaction: who is written with whom, who resumes when, and who is refused. */
import { expect, test } from 'vitest';
import type { Clock } from '../../src/ground/index.ts';
import { GroupCommit } from '../../src/journal/group-commit.ts';

/** A turn of the loop ends when the test says so. */
function rig() {
  const soon: (() => void)[] = [];
  const later: { ms: number; act: () => void }[] = [];
  const batches: string[][] = [];
  const told: string[] = [];
  let failWith: (batch: readonly string[]) => Error | undefined = () => undefined;
  const clock: Clock = {
    now: () => 0,
    monotonicMs: () => 0,
    soon: (act) => void soon.push(act),
    after: (ms, act) => {
      const timer = { ms, act };
      later.push(timer);
      return () => void later.splice(0, later.length, ...later.filter((it) => it !== timer));
    },
  };
  const commit = new GroupCommit<string>({
    clock,
    write: (batch) => {
      const error = failWith(batch);
      if (error) throw error;
      batches.push([...batch]);
    },
    isItems: (error) => (error as Error).message !== 'full',
    onStall: () => told.push('stalled'),
    onRecover: () => told.push('recovered'),
  });
  return {
    commit,
    batches,
    told,
    later,
    turn: () => {
      for (const act of soon.splice(0)) act();
    },
    retry: () => later.splice(0)[0]?.act(),
    failWith: (of: typeof failWith) => {
      failWith = of;
    },
  };
}

test('what is pushed in one turn is written together, in order, and what comes later is not', async () => {
  const { commit, batches, turn } = rig();
  const first = ['a', 'b', 'c'].map((item) => commit.push(item));
  expect(batches).toEqual([]);
  turn();
  expect(await Promise.all(first)).toEqual(['a', 'b', 'c']);
  const second = commit.push('d');
  turn();
  await second;
  expect(batches).toEqual([['a', 'b', 'c'], ['d']]);
});

test('nobody resumes before the batch is written', async () => {
  const { commit, turn } = rig();
  let hasResumed = false;
  const pushed = commit.push('a').then(() => {
    hasResumed = true;
  });
  await Promise.resolve();
  expect(hasResumed).toBe(false);
  turn();
  await pushed;
  expect(hasResumed).toBe(true);
});

test('one bad item is refused alone, and the others of its batch are written', async () => {
  const { commit, batches, turn, failWith } = rig();
  failWith((batch) => (batch.includes('bad') ? new Error('refused') : undefined));
  const [a, bad, c] = ['a', 'bad', 'c'].map((item) => commit.push(item));
  const refused = expect(bad).rejects.toThrow('refused');
  turn();
  expect(await a).toBe('a');
  await refused;
  expect(await c).toBe('c');
  expect(batches).toEqual([['a'], ['c']]);
});

test('while the disk is full all wait, in order, and are written when it is not', async () => {
  const { commit, batches, told, turn, retry, failWith, later } = rig();
  failWith(() => new Error('full'));
  const pushed = [commit.push('a')];
  turn();
  pushed.push(commit.push('b'));
  turn();
  expect(commit.stalledBy?.message).toBe('full');
  retry();
  retry();
  expect(told).toEqual(['stalled']);
  expect(later[0]!.ms).toBeGreaterThan(200);
  failWith(() => undefined);
  retry();
  expect(await Promise.all(pushed)).toEqual(['a', 'b']);
  expect(batches).toEqual([['a', 'b']]);
  expect(told).toEqual(['stalled', 'recovered']);
  expect(commit.stalledBy).toBeUndefined();
});

test('a stall that somebody else has met ends when an empty transaction can be written', () => {
  const { commit, batches, told, retry } = rig();
  commit.stall(new Error('full'));
  expect(commit.stalledBy?.message).toBe('full');
  retry();
  expect(batches).toEqual([[]]);
  expect(told).toEqual(['stalled', 'recovered']);
});

test('a very large crowd is written in bounded batches, each in its turn', async () => {
  const { commit, batches, turn } = rig();
  const pushed = Array.from({ length: 10_000 }, (_, index) => commit.push(String(index)));
  turn();
  expect(batches).toHaveLength(1);
  turn();
  turn();
  await Promise.all(pushed);
  expect(batches.map((batch) => batch.length)).toEqual([4_096, 4_096, 1_808]);
});

test('what waits is written at once for a process that is about to end, or it is told why not', async () => {
  const { commit, batches, failWith } = rig();
  const pushed = commit.push('a');
  commit.flushNow();
  await pushed;
  expect(batches).toEqual([['a']]);
  failWith(() => new Error('full'));
  void commit.push('b');
  expect(() => commit.flushNow()).toThrow('full');
});

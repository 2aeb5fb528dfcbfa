/** Where records are is found by outlines as it is by reading all of them, for random owners and flushes. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { courseOf } from '../../src/fleet/course.ts';
import { rowOf, rowsOf, segmentOf } from '../../src/fleet/history.ts';
import { hash, type RunId } from '../../src/ground/index.ts';
import { recordsInText } from '../../src/store/outlines.ts';
import type { Segment } from '../../src/store/tasks.ts';

const task = '01J00000000000000000000000' as RunId;

interface Row {
  readonly seq: number;
  readonly hash: string;
}

/** Each owner goes on from a record that it found, and flushes what it writes, or loses some of it. */
const owners = fc.array(
  fc.record({
    /** How far back of what is there it begins. */
    back: fc.nat(3),
    /** Of whom it takes over: the last one, or one before. */
    of: fc.nat(2),
    flushes: fc.array(fc.record({ count: fc.integer({ min: 1, max: 4 }), isLost: fc.boolean() }), {
      maxLength: 4,
    }),
  }),
  { minLength: 1, maxLength: 5 },
);

function segmentsOf(plan: typeof owners extends fc.Arbitrary<infer T> ? T : never) {
  const lines: Row[][] = [[]];
  const segments: Segment[] = [];
  plan.forEach(({ back, of, flushes }, index) => {
    const before = lines[Math.max(0, lines.length - 1 - of)]!;
    const line = before.slice(0, Math.max(0, before.length - back));
    const epoch = index + 1;
    for (const { count, isLost } of flushes) {
      const prevHash = line.at(-1)?.hash ?? '';
      const written = Array.from({ length: count }, () => {
        const seq = line.length;
        const own = hash(`${line.at(-1)?.hash} ${epoch} ${seq}`);
        line.push({ seq, hash: own });
        return {
          seq,
          at: 1,
          epoch,
          event: 'DONE',
          state: 'main.work',
          data: '{"type":"DONE"}',
          hash: own,
        };
      });
      const claim = { task, generation: 1, epoch };
      const made = segmentOf(claim, prevHash, written as never)!;
      if (!isLost) segments.push(made);
    }
    lines.push(line);
  });
  return { segments, lines };
}

async function byOutlines(segments: readonly Segment[], settled: Row | undefined) {
  const outlines = segments.map(({ events: _, ...outline }) => outline);
  const textsOf = (of: { epoch: number; firstSeq: number }, fromSeq: number, bytesMax: number) => {
    const own = segments.find((one) => one.epoch === of.epoch && one.firstSeq === of.firstSeq)!;
    return recordsInText(own.events, { ...own, fromSeq, bytesMax });
  };
  const course = await courseOf(task, outlines, settled, async (outline, seq) => {
    return (JSON.parse(textsOf(outline, seq, 1)[0]!) as Row).hash;
  });
  return course.flatMap(({ outline, from, until }) =>
    textsOf(outline, from, 1e9)
      .slice(0, until - from + 1)
      .map((text, index) => rowOf(task, JSON.parse(text), from + index)),
  );
}

test('the records that count are the same', async () => {
  let [whole, broken] = [0, 0];
  await fc.assert(
    fc.asyncProperty(owners, fc.nat(5), fc.nat(12), async (plan, owner, at) => {
      const { segments, lines } = segmentsOf(plan);
      const settled = lines[owner % lines.length]?.[at];
      let wanted: unknown;
      try {
        wanted = rowsOf(task, segments, settled?.hash);
      } catch (error) {
        broken++;
        await expect(byOutlines(segments, settled)).rejects.toThrow((error as Error).message);
        return;
      }
      whole++;
      expect(await byOutlines(segments, settled)).toEqual(wanted);
    }),
    { numRuns: 1_000, seed: 7 },
  );
  expect(Math.min(whole, broken)).toBeGreaterThan(50);
});

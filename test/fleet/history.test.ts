/** Records on their way to the shared tables and back: in order, without forks, to the letter. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { WrittenRecord } from '../../src/engine/index.ts';
import { BrokenHistoryError } from '../../src/fleet/errors.ts';
import { rowsOf, segmentOf } from '../../src/fleet/history.ts';
import { hash, type RunId } from '../../src/ground/index.ts';
import type { Claim, Segment } from '../../src/store/index.ts';
import { isReadRight } from '../support/misread-keys.ts';

const TASK = '01J0000000000000000000000A' as RunId;

function claim(epoch: number): Claim {
  return { task: TASK, generation: 1, epoch };
}

/** Records `from` to `to` of an honest chain; another branch has other hashes. */
function records(from: number, to: number, branch = ''): WrittenRecord[] {
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const seq = from + index;
    const data = JSON.stringify({ type: 'DONE', output: `${branch}${seq}` });
    return {
      seq,
      at: 1_000 + seq,
      epoch: 1,
      event: 'DONE',
      state: 'main.work',
      data,
      hash: hashAt(seq, branch),
    };
  });
}

function hashAt(seq: number, branch = ''): string {
  return seq < 0 ? '' : hash(`${seq}${branch}`);
}

function segment(epoch: number, from: number, to: number, branch = '', before = ''): Segment {
  return segmentOf(claim(epoch), hashAt(from - 1, before), records(from, to, branch))!;
}

const read = (segments: readonly Segment[], settledAt?: string) =>
  rowsOf(TASK, segments, settledAt);
const hashes = (segments: readonly Segment[], settledAt?: string) =>
  read(segments, settledAt).map((row) => row.hash);
const chain = (to: number, branch = '') =>
  Array.from({ length: to + 1 }, (_, seq) => hashAt(seq, branch));

test('no records make no segment', () => {
  expect(segmentOf(claim(1), '', [])).toBeUndefined();
});

test('H2: what a former owner flushes late is cut off where the next epoch goes on', () => {
  const first = segment(1, 0, 4);
  const next = segment(2, 5, 7, 'new');
  const late = segment(1, 5, 6, 'late');
  const wanted = [...chain(4), hashAt(5, 'new'), hashAt(6, 'new'), hashAt(7, 'new')];
  for (const order of [
    [first, next, late],
    [late, next, first],
    [first, late, next],
  ]) {
    expect(hashes(order)).toEqual(wanted);
  }
});

test('where two former owners have flushed late, the next one tells from which of them it went on', () => {
  const first = segment(1, 0, 7);
  const beside = segment(3, 7, 9, 'beside');
  const last = segment(5, 8, 9, 'last');
  const wanted = [...chain(7), hashAt(8, 'last'), hashAt(9, 'last')];
  for (const order of [
    [first, last, beside],
    [beside, first, last],
  ]) {
    expect(hashes(order)).toEqual(wanted);
  }
  const onBeside = segment(5, 8, 8, 'last', 'beside');
  expect(hashes([first, beside, onBeside])).toEqual([
    ...chain(6),
    hashAt(7, 'beside'),
    hashAt(8, 'last'),
  ]);
});

/** The owner of epoch 5 found all of `whole` and settled it as it was; that of epoch 3 had seen less. */
const whole = segment(1, 0, 4);
const beside = segment(3, 1, 3, 'beside');

test('what is flushed late beside the record a task was settled at counts for nothing', () => {
  const settledAt = hashAt(4);
  expect(hashes([whole, beside], settledAt)).toEqual(chain(4));
  expect(hashes([beside, whole], settledAt)).toEqual(chain(4));
  const onBeside = segment(4, 4, 6, 'more', 'beside');
  expect(hashes([whole, beside, onBeside], settledAt)).toEqual(chain(4));
});

test('a history goes on behind the record its task was settled at', () => {
  const next = segment(6, 5, 6, 'next');
  const wanted = [...chain(4), hashAt(5, 'next'), hashAt(6, 'next')];
  expect(hashes([whole, beside, next], hashAt(4))).toEqual(wanted);
  expect(hashes([whole, beside, next], hashAt(2))).toEqual(wanted);
});

test('of an earlier generation, the outcome that was kept tells where it was settled', () => {
  const outcome = { ...segment(5, 5, 5), state: 'outcome', lastHash: hashAt(4) };
  expect(hashes([whole, beside, outcome])).toEqual(chain(4));
  const untold = { ...outcome, lastHash: '' };
  expect(hashes([whole, beside, untold])).toEqual(hashes([whole, beside]));
});

test('a history without the record its task was settled at is refused', () => {
  const refusal = 'the record it was settled at is not there';
  expect(() => read([beside, segment(1, 0, 3)], hashAt(4))).toThrow(refusal);
  expect(() => read([], hashAt(4))).toThrow(refusal);
  expect(read([])).toEqual([]);
});

test('H25: overlapping parts of one epoch are one history, in whatever order they came', () => {
  const parts = [segment(1, 0, 2), segment(1, 0, 3), segment(1, 2, 5), segment(1, 4, 6)];
  expect(hashes(parts)).toEqual(chain(6));
  expect(hashes(parts.toReversed())).toEqual(chain(6));
});

test('a hole ends what can be used of an epoch', () => {
  expect(hashes([segment(1, 0, 2), segment(1, 4, 6)])).toEqual(chain(2));
});

test('an epoch that begins after a gap, or from another record, is refused and never guessed at', () => {
  expect(() => read([segment(1, 0, 2), segment(2, 4, 5)])).toThrow(BrokenHistoryError);
  const elsewhere = segment(2, 3, 5, '', 'another');
  expect(() => read([segment(1, 0, 2), elsewhere])).toThrow('does not go on from record 2');
});

test('two records of one number within an epoch are a fork, and said to be one', () => {
  expect(() => read([segment(1, 0, 3), segment(1, 2, 3, 'other', '')])).toThrow(
    'there are two records 2',
  );
});

test('events that are no JSON, or not as many as the segment says, are refused', () => {
  const good = segment(1, 0, 2);
  expect(() => read([{ ...good, events: '[{' }])).toThrow('is not JSON');
  expect(() => read([{ ...good, lastSeq: 3 }])).toThrow('does not hold its records');
  expect(() => read([{ ...good, firstSeq: 1, lastSeq: 3, events: good.events }])).toThrow(
    BrokenHistoryError,
  );
  expect(() => read([{ ...good, events: '[1,2,3]' }])).toThrow('record 0 is missing');
});

test('the outcome of an earlier generation is no record of the run', () => {
  const outcome = { ...segment(1, 0, 0, 'outcome'), state: 'outcome', lastHash: hashAt(2) };
  expect(hashes([outcome, segment(2, 0, 2)])).toEqual(chain(2));
});

const oddText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\u0000', '\ud800', '__proto__', '"', '\\', '\u2028', '{"type":"', '}]'),
);
const oddJson = fc
  .oneof(
    fc.jsonValue(),
    fc.dictionary(fc.oneof(oddText, fc.nat().map(String)), fc.jsonValue()),
    oddText,
    fc.constantFrom(1e21, 5e-324, -1.5e-7, Number.MAX_SAFE_INTEGER, 2 ** 60),
  )
  .filter(isReadRight);

/** What the engine writes, and what a codec may make of it, short of passing it off as plain. */
const data = fc.oneof(
  oddJson.map((output) => JSON.stringify({ type: 'DONE', output })),
  fc
    .oneof(
      oddJson.map((output) => `{"enc": ${JSON.stringify(output)} }`),
      oddText,
      oddText.map((text) => `{${text}`),
    )
    .filter((text) => !text.startsWith('{"type":"')),
);

test('every record comes back to the letter, whatever it holds and however it was cut', () => {
  fc.assert(
    fc.property(
      fc.array(data, { minLength: 1, maxLength: 12 }),
      fc.array(fc.nat({ max: 11 })),
      (texts, cuts) => {
        const all = texts.map((text, seq) => ({ ...records(seq, seq)[0]!, data: text }));
        const borders = [...new Set([0, ...cuts.filter((cut) => cut < all.length), all.length])];
        borders.sort((a, b) => a - b);
        const segments = borders
          .slice(1)
          .map(
            (to, index) =>
              segmentOf(claim(1), hashAt(borders[index]! - 1), all.slice(borders[index], to))!,
          );
        const rows = read(segments);
        expect(rows.map(({ data: text }) => text)).toEqual(texts);
        expect(rows.map(({ seq, at, hash: sum }) => ({ seq, at, hash: sum }))).toEqual(
          all.map(({ seq, at, hash: sum }) => ({ seq, at, hash: sum })),
        );
      },
    ),
    { numRuns: 500 },
  );
});

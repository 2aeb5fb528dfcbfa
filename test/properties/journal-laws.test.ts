/** Records on their way to the disk, to the shared tables, and back: nothing is changed unseen. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowsOf, segmentOf } from '../../src/fleet/history.ts';
import { type RunId, settleJson } from '../../src/ground/index.ts';
import {
  type Codec,
  DamagedRunError,
  type EventRow,
  identityCodec,
} from '../../src/journal/index.ts';
import { CHAIN_START, decodeRows, encodeEntry } from '../../src/journal/record.ts';
import type { RunEvent } from '../../src/machine/index.ts';
import type { Segment } from '../../src/store/index.ts';
import { seeded } from '../ground/seed.ts';
import { isReadRight } from '../support/misread-keys.ts';

const RUN = '01ARZ3NDEKTSV4RRFFQ69G5FAV' as RunId;
const base64: Codec = {
  encode: (text) => Buffer.from(text).toString('base64'),
  decode: (stored) => Buffer.from(stored, 'base64').toString(),
};

const output = fc
  .oneof(fc.jsonValue({ stringUnit: 'binary' }), fc.constant(JSON.parse('{"__proto__":[1]}')))
  .filter(isReadRight)
  .map((value) => settleJson(value, 'it', 1_000_000));
const events = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('DONE' as const), output }),
    fc.record({ type: fc.constant('POSTPONED' as const), reason: fc.string(), dueAt: fc.nat() }),
    fc.constant({ type: 'PROBED' } as const),
  ),
  { minLength: 1, maxLength: 8 },
);
const codecs = fc.constantFrom(identityCodec, base64);

/** One run as it is written, a record after the other. */
function written(happened: readonly RunEvent[], codec: Codec, epoch = 1, from?: EventRow) {
  const rows: EventRow[] = [];
  for (const event of happened) {
    const before = rows.at(-1) ?? from;
    const seq = (before?.seq ?? -1) + 1;
    const at = 1_000 + seq;
    const prevHash = before?.hash ?? CHAIN_START;
    const entry = { run: RUN, seq, at, epoch, event, state: 'main.work', prevHash };
    const { data, hash } = encodeEntry(entry, codec);
    rows.push({
      lsn: seq + 1,
      run: RUN,
      seq,
      at,
      epoch,
      event: event.type,
      state: 'main.work',
      data,
      hash,
    });
  }
  return rows;
}

test('what was recorded is read as it was, through any codec', () => {
  fc.assert(
    fc.property(events, codecs, (happened, codec) => {
      const records = decodeRows(RUN, written(happened, codec), codec);
      expect(records.map(({ event }) => event)).toEqual(JSON.parse(JSON.stringify(happened)));
    }),
    seeded(300),
  );
});

const CHANGES: readonly ((row: EventRow) => EventRow)[] = [
  (row) => ({ ...row, at: row.at + 1 }),
  (row) => ({ ...row, epoch: row.epoch + 1 }),
  (row) => ({ ...row, seq: row.seq + 1 }),
  (row) => ({ ...row, event: row.event === 'DONE' ? 'PROBED' : 'DONE' }),
  (row) => ({ ...row, state: `${row.state}.` }),
  (row) => ({ ...row, data: `${row.data} ` }),
  (row) => ({ ...row, run: row.run.replace('V', 'W') }),
  (row) => ({ ...row, hash: row.hash.replace(/^./, (digit) => (digit === '0' ? '1' : '0')) }),
];

test('a record that was changed, lost, doubled or moved is damage, whichever it is', () => {
  fc.assert(
    fc.property(events, fc.nat(7), fc.nat(7), fc.constantFrom(...CHANGES), (all, a, b, change) => {
      const rows = written(all, identityCodec);
      const [at, to] = [a % rows.length, b % rows.length];
      const read = (given: EventRow[]) => () => decodeRows(RUN, given, identityCodec);
      expect(read(rows.with(at, change(rows[at]!)))).toThrow(DamagedRunError);
      expect(read(rows.toSpliced(at, 0, rows[at]!))).toThrow(DamagedRunError);
      // A loss at the end is told by the head of the journal, not by the chain.
      if (at < rows.length - 1) expect(read(rows.toSpliced(at, 1))).toThrow(DamagedRunError);
      if (at !== to) {
        const swapped = rows.with(at, rows[to]!).with(to, rows[at]!);
        expect(read(swapped)).toThrow(DamagedRunError);
      }
    }),
    seeded(300),
  );
});

/** Cut at these places; undefined cuts nothing. */
function cut(rows: readonly EventRow[], places: readonly number[]): Segment[] {
  const ends = [...new Set([...places.map((place) => 1 + (place % rows.length)), rows.length])];
  ends.sort((a, b) => a - b);
  return ends.map((end, index) => {
    const part = rows.slice(ends[index - 1] ?? 0, end);
    const claim = { task: RUN, generation: 1, epoch: part[0]!.epoch };
    const before = rows[(ends[index - 1] ?? 0) - 1]?.hash ?? CHAIN_START;
    return segmentOf(claim, before, part)!;
  });
}

const withoutLsn = (rows: readonly EventRow[]) => rows.map((row) => ({ ...row, lsn: 0 }));
const places = fc.array(fc.nat(7), { maxLength: 4 });

test('however a history is cut into segments, in whatever order they come, it reads the same', () => {
  fc.assert(
    fc.property(events, codecs, places, fc.infiniteStream(fc.nat()), (all, codec, at, chance) => {
      const rows = written(all, codec);
      const segments = cut(rows, at);
      const keyed = segments.map((part) => [chance.next().value as number, part] as const);
      const shuffled = keyed.sort(([a], [b]) => a - b).map(([, part]) => part);
      const read = rowsOf(RUN, shuffled, undefined);
      expect(read).toEqual(withoutLsn(rows));
      expect(() => decodeRows(RUN, read, codec)).not.toThrow();
    }),
    seeded(300),
  );
});

test('whatever a former owner flushes late, the history is that of the last one', () => {
  fc.assert(
    fc.property(events, events, events, fc.nat(7), places, (base, late, next, kept, at) => {
      const first = written(base, identityCodec, 1);
      const from = first.slice(0, 1 + (kept % first.length));
      const second = written(next, identityCodec, 2, from.at(-1));
      const more = written(late, identityCodec, 1, first.at(-1));
      const wanted = [...from, ...second];
      const tail = segmentOf({ task: RUN, generation: 1, epoch: 2 }, from.at(-1)!.hash, second)!;
      const segments = [...cut([...first, ...more], at), tail];
      expect(rowsOf(RUN, segments, undefined)).toEqual(withoutLsn(wanted));
    }),
    seeded(300),
  );
});

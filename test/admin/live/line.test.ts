/** One followed run: whatever becomes of its history, a client ends with the one that counts. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Cursor,
  decodeCursor,
  encodeCursor,
  HASH_LENGTH,
  type Position,
} from '../../../src/admin/live/cursor.ts';
import { RunLine } from '../../../src/admin/live/line.ts';
import { parseTopics } from '../../../src/admin/live/topics.ts';
import { hash, type RunId } from '../../../src/ground/index.ts';
import { CHAIN_START, type StoredRecord } from '../../../src/journal/index.ts';

const RUN = '01J00000000000000000000000' as RunId;
const OTHER = '0a0b0c0d-1111-4222-8333-444455556666' as RunId;
/** Of a few records, and of more than there are. */
const [WINDOW, WIDE] = [400, 100_000];

/** Records behind `before`, written by the owner of this epoch. */
function grow(before: readonly StoredRecord[], epoch: number, count: number): StoredRecord[] {
  const records = [...before];
  for (let index = 0; index < count; index++) {
    const seq = records.length;
    const prev = records.at(-1)?.hash ?? CHAIN_START;
    const event = { type: 'DONE', output: seq } as unknown as StoredRecord['event'];
    const own = hash(`${prev} ${epoch} ${seq}`);
    records.push({ seq, lsn: 0, at: seq, epoch, event, state: 'main.work', hash: own });
  }
  return records;
}

/** What a client has, by what it is told; a record that does not come next is an error. */
class Client {
  records: StoredRecord[] = [];
  generation = 1;
  position: Position = { generation: 0, epoch: 0, seq: -1, hash: '' };

  /** Takes all it can get now; answers whether a look is needed. */
  take(line: RunLine, countMax = Number.POSITIVE_INFINITY): boolean {
    for (let told = 0; told < countMax; told++) {
      const step = line.after(this.position);
      if (step.kind === 'wait') return false;
      if (step.kind === 'look') return true;
      if (step.kind === 'rewind') {
        this.position = step.to;
        const isSame = step.to.generation === this.generation;
        this.records = isSame ? this.records.slice(0, step.to.seq + 1) : [];
        this.generation = step.to.generation;
        continue;
      }
      expect(step.record.seq).toBe(this.records.length);
      this.records.push(step.record);
      this.position = step.position;
      this.generation = step.position.generation;
    }
    return false;
  }

  /** By way of the cursor, as after a restart. */
  reconnect(): void {
    const runs = new Map([[RUN, this.position]]);
    const text = encodeCursor({ teller: 'ab12', change: 7, runs });
    this.position = (decodeCursor(text) as Cursor).runs.get(RUN)!;
  }
}

function show(
  line: RunLine,
  path: readonly StoredRecord[],
  from: number,
  generation = 1,
  hasEnded = false,
  bytesMax = WINDOW,
): void {
  const prevHash = path[from]?.hash ?? CHAIN_START;
  const records = path.slice(from + 1);
  line.replace({ generation, prevHash, records, head: path.at(-1), hasEnded }, bytesMax);
}

function takeAll(client: Client, line: RunLine, path: readonly StoredRecord[], generation = 1) {
  for (let look = 0; look < 1_000 && client.take(line); look++) {
    const isSame = client.position.generation === generation;
    show(line, path, isSame ? client.position.seq : -1, generation, line.hasEnded);
  }
}

const hashes = (records: readonly StoredRecord[]) => records.map((record) => record.hash);

describe('a followed run', () => {
  test('is told from any record on, through a window much smaller than it', () => {
    const path = grow([], 1, 50);
    const [line, client] = [new RunLine(RUN), new Client()];
    show(line, path, -1);
    takeAll(client, line, path);
    expect(hashes(client.records)).toEqual(hashes(path));
    const longer = grow(path, 1, 30);
    for (const record of longer.slice(50)) {
      expect(line.append(record, longer[record.seq - 1]!.hash, false, WINDOW)).toBe(true);
    }
    takeAll(client, line, longer);
    expect(hashes(client.records)).toEqual(hashes(longer));
  });

  test('a record that does not follow is not taken for the next one', () => {
    const path = grow([], 1, 3);
    const line = new RunLine(RUN);
    show(line, path, -1);
    const [other] = grow(grow([], 2, 3), 2, 1).slice(3);
    expect(line.append(other!, hash('another'), false, WINDOW)).toBe(false);
    const later = grow(path, 1, 2)[4]!;
    expect(line.append(later, path[2]!.hash, false, WINDOW)).toBe(false);
  });

  test('whoever was told records that a take-over left behind goes back to where they part', () => {
    const path = grow([], 1, 6);
    const [line, client] = [new RunLine(RUN), new Client()];
    show(line, path, -1, 1, false, WIDE);
    client.take(line);
    const taken = grow(path.slice(0, 4), 2, 3);
    show(line, taken, -1, 1, false, WIDE);
    const step = line.after(client.position);
    expect(step).toMatchObject({ kind: 'rewind', why: 'replaced', to: { seq: 3 } });
    client.take(line);
    expect(hashes(client.records)).toEqual(hashes(taken));
  });

  test('who comes back with such records, to a process that never saw them, begins anew', () => {
    const path = grow([], 1, 6);
    const [line, client] = [new RunLine(RUN), new Client()];
    show(line, path, -1, 1, false, WIDE);
    client.take(line);
    client.reconnect();
    const next = new RunLine(RUN);
    const taken = grow(path.slice(0, 4), 2, 1);
    show(next, taken, -1, 1, false, WIDE);
    expect(next.after(client.position)).toMatchObject({ kind: 'rewind', to: { seq: -1 } });
    client.take(next);
    expect(hashes(client.records)).toEqual(hashes(taken));
  });

  test('who has more than is known here waits: it may be on its way', () => {
    const path = grow([], 1, 6);
    const [line, client] = [new RunLine(RUN), new Client()];
    show(line, path, -1);
    client.take(line);
    const behind = new RunLine(RUN);
    show(behind, path.slice(0, 4), -1);
    expect(behind.after(client.position)).toEqual({ kind: 'wait' });
    const longer = grow(path, 1, 1);
    show(behind, longer, client.position.seq);
    client.take(behind);
    expect(hashes(client.records)).toEqual(hashes(longer));
  });

  test('but not for ever: a run that has ended with less is told anew', () => {
    const path = grow([], 1, 6);
    const [line, client] = [new RunLine(RUN), new Client()];
    show(line, path, -1);
    client.take(line);
    const ended = new RunLine(RUN);
    show(ended, path.slice(0, 4), -1, 1, true);
    client.take(ended);
    expect(hashes(client.records)).toEqual(hashes(path.slice(0, 4)));
  });

  test('a redrive is told before its records', () => {
    const [line, client] = [new RunLine(RUN), new Client()];
    show(line, grow([], 1, 6), -1);
    client.take(line);
    const redriven = grow([], 9, 2);
    show(line, redriven, -1, 2);
    expect(line.after(client.position)).toMatchObject({
      kind: 'rewind',
      why: 'redriven',
      to: { generation: 2, seq: -1 },
    });
    client.take(line);
    expect(hashes(client.records)).toEqual(hashes(redriven));
    // Somebody who reads from a copy that is behind is not believed.
    const behind = new RunLine(RUN);
    show(behind, grow([], 1, 9), -1, 1);
    expect(behind.after(client.position)).toEqual({ kind: 'wait' });
  });
});

/** What may happen to a run and to who follows it. */
const Happening = fc.oneof(
  fc.record({ kind: fc.constant('grows' as const), count: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant('takenOver' as const), keep: fc.nat(9) }),
  fc.record({ kind: fc.constant('redriven' as const) }),
  fc.record({ kind: fc.constant('reads' as const), count: fc.nat(9) }),
  fc.record({ kind: fc.constant('reconnects' as const), isElsewhere: fc.boolean() }),
);

test('whatever happens, a client ends with the history that counts, without hole or double', () => {
  fc.assert(
    fc.property(fc.array(Happening, { maxLength: 60 }), fc.boolean(), (happenings, isWide) => {
      const bytesMax = isWide ? WIDE : WINDOW;
      let [epoch, generation, path] = [1, 1, grow([], 1, 1)];
      let line = new RunLine(RUN);
      const client = new Client();
      show(line, path, -1, generation, false, bytesMax);
      for (const happening of happenings) {
        switch (happening.kind) {
          case 'grows': {
            const longer = grow(path, epoch, happening.count);
            for (const record of longer.slice(path.length)) {
              const prev = longer[record.seq - 1]?.hash ?? CHAIN_START;
              expect(line.append(record, prev, false, bytesMax)).toBe(true);
            }
            path = longer;
            break;
          }
          case 'takenOver':
            path = grow(path.slice(0, Math.max(0, path.length - happening.keep)), ++epoch, 1);
            show(line, path, -1, generation, false, bytesMax);
            break;
          case 'redriven':
            path = grow([], ++epoch, 1);
            show(line, path, -1, ++generation, false, bytesMax);
            break;
          case 'reads':
            if (client.take(line, happening.count)) {
              const isSame = client.position.generation === generation;
              show(line, path, isSame ? client.position.seq : -1, generation, false, bytesMax);
            }
            break;
          case 'reconnects':
            client.reconnect();
            if (!happening.isElsewhere) break;
            line = new RunLine(RUN);
            show(line, path, -1, generation, false, bytesMax);
        }
      }
      show(line, path, -1, generation, true, bytesMax);
      takeAll(client, line, path, generation);
      expect(hashes(client.records)).toEqual(hashes(path));
    }),
    { numRuns: 5_000 },
  );
});

describe('a cursor', () => {
  const Hex = fc.stringMatching(/^[\da-f]{1,12}$/);
  const Where = fc.record({
    generation: fc.integer({ min: 1, max: 1e9 }),
    epoch: fc.nat(1e9),
    seq: fc.integer({ min: -1, max: 1e9 }),
    hash: Hex,
  });

  test('comes back as it was', () => {
    const Runs = fc.uniqueArray(fc.tuple(fc.constantFrom(RUN, OTHER), Where), {
      selector: ([run]) => run,
    });
    fc.assert(
      fc.property(Hex, fc.nat(), Runs, (teller, change, runs) => {
        const cursor = { teller, change, runs: new Map(runs) };
        expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
      }),
    );
  });

  test('that is none is none, and nothing is thrown', () => {
    for (const text of ['', '1', '0', 'x', '1.zz.0', `1.ab.1.${RUN}`, `1.ab.1.${RUN}_1_1_-2_ab`]) {
      expect(decodeCursor(text)).toBeUndefined();
    }
    expect(decodeCursor(`1.ab.1${'.'.repeat(5_000)}`)).toBeUndefined();
    fc.assert(fc.property(fc.string(), (text) => void decodeCursor(text)));
    expect(HASH_LENGTH).toBeGreaterThanOrEqual(12);
  });
});

describe('topics', () => {
  test('are read, each once', () => {
    expect(parseTopics(`runs,pods,run:${RUN},run:${RUN},run:${OTHER},runs`)).toEqual({
      hasRuns: true,
      hasPods: true,
      runs: [RUN, OTHER],
    });
  });

  const MANY = Array.from({ length: 17 }, (_, n) => `run:01J000000000000000000000${10 + n}`);

  test.each([
    ['nothing', undefined, /must name what to tell of/],
    ['an empty text', '', /must name what to tell of/],
    ['a near miss', 'rums', /no topic "rums"/],
    ['an empty topic', 'runs,', /no topic ""/],
    ['a space', 'runs, pods', /no topic " pods"/],
    ['a long text', 'x'.repeat(3_000), /at most 2000 characters/],
    ['too many runs', MANY.join(','), /at most 16 runs/],
  ])('%s is refused in words', (_, text, words) => {
    expect(() => parseTopics(text)).toThrow(words);
  });

  test('an id of another form is of no run', () => {
    for (const id of ['', 'nonsense', '../x', RUN.toLowerCase()]) {
      expect(() => parseTopics(`run:${id}`)).toThrow(
        expect.objectContaining({ code: 'FLEETQ_RUN_NOT_FOUND' }),
      );
    }
  });
});

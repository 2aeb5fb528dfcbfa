/** A store behind a codec keeps every promise of a store, and holds no text that anybody could read. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { aesCodec, type Codec, newCodecKey, parseCodecKeys } from '../../src/ground/index.ts';
import { digestOf } from '../../src/store/audit.ts';
import { MemoryStore, MemoryTables, openReason, sealedStore } from '../../src/store/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { actOf } from './acts.ts';
import { newBulk } from './conform-bulk.ts';
import { describeStore } from './conformance.ts';
import { newTask } from './factories.ts';
import { sqliteHarness } from './sqlite-harness.ts';

const newDir = useTempDirs();
const aes = aesCodec(parseCodecKeys(newCodecKey('test', seededRandom(1)), 'the test'));
const plain = sqliteHarness(join(newDir(), 'store.db'));
/** What a store cannot hold it could hold sealed; the promise about that is about what comes to it. */
const codec: Codec = {
  ...aes,
  encode: (text, place) => (text.includes(plain.poison) ? text : aes.encode(text, place)),
};

describeStore('sqlite behind a codec', {
  ...plain,
  open: async () => sealedStore(await plain.open(), codec),
  rows: async (table) =>
    (await plain.rows(table)).map((row) => {
      const { control_reason: reason, task_id: task } = row;
      if (typeof reason !== 'string') return row;
      expect(reason).toMatch(/^fqs1\./);
      return { ...row, control_reason: openReason(codec, String(task), reason) };
    }),
});

test('a reason that is sealed is not found by guessing at the digest of the act', async () => {
  const tables = new MemoryTables({ clock: new FakeClock(), random: seededRandom(2) });
  const store = sealedStore(new MemoryStore(tables), aes);
  const task = newTask();
  await store.enqueue([task]);
  const act = actOf(task.id, { what: 'cancel', reason: 'pin 4711' });
  expect(await store.act(act)).toMatchObject({ kind: 'done' });
  expect(await store.act(act)).toMatchObject({ isRepeated: true });
  const reader = await store.openReader();
  const { rows } = await reader.audit({ countMax: 9 });
  const [row] = rows;
  expect(row!.detail).toContain('"digest"');
  expect(row!.detail).not.toContain(digestOf(act));
});

test('whoever has no key puts no input in the place of a sealed one', async () => {
  const tables = new MemoryTables({ clock: new FakeClock(), random: seededRandom(2) });
  const plainly = new MemoryStore(tables);
  const store = sealedStore(plainly, aes);
  const task = newTask();
  await store.enqueue([task]);
  await store.act(actOf(task.id, { what: 'cancel', reason: 'no' }));
  const deed = { what: 'redrive', isFresh: true, payload: '{"n":2}' } as const;
  expect(await plainly.act(actOf(task.id, deed))).toMatchObject({ kind: 'refused', why: 'unfit' });
  expect(await store.act(actOf(task.id, deed))).toMatchObject({ kind: 'done' });
});

test('what a bulk operation looks for, and why, is in no row; whoever has the key reads it', async () => {
  const tables = new MemoryTables({ clock: new FakeClock(), random: seededRandom(2) });
  const store = sealedStore(new MemoryStore(tables), aes);
  const deed = JSON.stringify({ what: 'cancel', reason: 'pin 4711' });
  const bulk = newBulk({ filter: 'status:pending "card 4711"', deed });
  await store.beginBulk(bulk);
  expect(await store.beginBulk(bulk)).toMatchObject({ isRepeated: true });
  const rows = [...tables.bulks.values(), ...tables.audit.values(), ...tables.tasks.values()];
  expect(JSON.stringify(rows)).not.toContain('4711');
  const reader = await store.openReader();
  expect(await reader.bulks({ countMax: 1 })).toMatchObject([{ filter: bulk.filter, deed }]);
  const { rows: logged } = await reader.audit({ countMax: 1 });
  expect(logged[0]?.detail).toContain('card 4711');
  const taken = await store.takeBulk({ id: bulk.id, run: bulk.shift.id, token: 1 });
  expect(taken).toMatchObject({ filter: bulk.filter, deed });
});

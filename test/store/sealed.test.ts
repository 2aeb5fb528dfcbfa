/** A store behind a codec keeps every promise of a store, and holds no text that anybody could read. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { aesCodec, type Codec, newCodecKey, parseCodecKeys } from '../../src/ground/index.ts';
import { openReason, sealedStore } from '../../src/store/index.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { describeStore } from './conformance.ts';
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

/** SIGKILL at any moment: what was acknowledged is there, whole, every time. */
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunId } from '../../src/ground/index.ts';
import { openJournalFile, verifyJournal } from '../../src/journal/index.ts';
import { mapAtOnce } from '../../src/testing/map-at-once.ts';
import { startChild } from '../support/children.ts';
import { readLedger } from '../support/ledger.ts';
import { below, seededRandom } from '../support/seeded-random.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import type { Ack } from './append-child.ts';

const KILLS = 50;
const LANES = 2;
const newDir = useTempDirs();

test('of 50 processes killed while they append, none loses a record that it acknowledged', async () => {
  const lanes = Array.from({ length: LANES }, (_, index) => index);
  const acked = await mapAtOnce(lanes, LANES, async (lane) => {
    const dataDir = newDir();
    mkdirSync(dirname(dataDir), { recursive: true });
    const ledger = join(dirname(dataDir), 'ledger');
    const random = seededRandom(lane + 1);
    for (let kill = 0; kill < KILLS / LANES; kill++) {
      const child = startChild('test/journal/append-child.ts', {
        dataDir,
        ledger,
        firstRun: (kill + 1) * 1_000_000,
      });
      const [alarms] = (await once(child.stdout!, 'data')) as [Buffer];
      expect(JSON.parse(alarms.toString())).toEqual([]);
      await new Promise((resolve) => setTimeout(resolve, below(random, 120)));
      child.kill('SIGKILL');
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      expect([code, signal]).toEqual([null, 'SIGKILL']);
    }
    const acks = readLedger<Ack>(ledger);
    expect(missingOf(dataDir, acks)).toEqual([]);
    expect(verifyJournal(dataDir).problems).toEqual([]);
    return acks.length;
  });
  // Enough was written for this to mean something.
  for (const count of acked) expect(count).toBeGreaterThan(KILLS);
});

function missingOf(dataDir: string, acks: readonly Ack[]): Ack[] {
  const seqs = new Map<string, number>();
  for (const { run, seq } of acks) seqs.set(run, Math.max(seq, seqs.get(run) ?? -1));
  const file = openJournalFile(dataDir);
  const missing = [...seqs].filter(
    ([run, seq]) => (file.reader.history(run as RunId).at(-1)?.seq ?? -1) < seq,
  );
  file.close();
  return missing.map(([run, seq]) => ({ run, seq }));
}

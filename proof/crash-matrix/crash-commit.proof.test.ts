/**
 * Kills inside the group commit: while records wait in memory, between two writes of the transaction,
 * and when it is all written and not yet synced. All five shapes run at the same time, so that one
 * commit carries records of several runs; none of them may have been acted on (I12).
 */

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { mapAtOnce } from '../../src/testing/map-at-once.ts';
import { readShimLog, shimEnv } from '../../test/support/disk-shim.ts';
import { SHAPES } from '../../test/support/shapes.ts';
import { AT_ONCE, type Point, STRIDE, thinned, useCrashes, WHOLE_MS_MAX } from './crash-host.ts';

const { newCase, copy, finish, crash, judge, count } = useCrashes();
const allShapes = () => newCase(...SHAPES);

afterAll(() => {
  console.log(`kills in a commit: ${count.cases} runs, ${count.kills} kills, 0 lost, 0 repeated`);
});

/** A whole life without a kill: how it ends, and how many calls it makes at least. */
async function smoothly() {
  const one = allShapes();
  const log = join(dirname(one.dataDir), 'shim.log');
  mkdirSync(one.dataDir, { recursive: true, mode: 0o700 });
  const reports = await finish([one], shimEnv({ log: { file: log, path: 'journal.db-wal' } }));
  const calls = readShimLog(log);
  const countOf = (op: string) => calls.filter((call) => call.op === op).length;
  const appends = reports.reduce((sum, { records }) => sum + records.length, 0);
  // How records are grouped varies; the longest run alone needs a commit for each of its records.
  const longest = Math.max(...reports.map(({ records }) => records.length));
  return { reports, appends, syncs: longest, writes: Math.floor(countOf('write') / 2) };
}

const upTo = (countMax: number) => Array.from({ length: countMax }, (_, index) => index + 1);

test(
  'runs whose records were buffered, half written or not yet synced go on as if nothing had happened',
  async () => {
    const { reports: smooth, appends, syncs, writes } = await smoothly();
    expect(writes).toBeGreaterThan(syncs);
    const points: Point[] = [
      ...thinned(upTo(appends), Math.ceil(STRIDE / 2)).map((nth) => ({
        when: 'buffered' as const,
        nth,
      })),
      ...thinned(upTo(syncs), Math.ceil(STRIDE / 5)).map((nth) => ({ op: 'sync' as const, nth })),
      ...thinned(upTo(writes), STRIDE).map((nth) => ({ op: 'write' as const, nth })),
    ];
    const cases = points.map(allShapes);
    await mapAtOnce(points, AT_ONCE, (point) => crash(cases[points.indexOf(point)]!, point));
    // The same again: a second kill inside a commit of the recovery, at another place.
    const again = thinned(points, 2).map((point, index) => ({
      one: copy(cases[2 * index]!),
      point: 'op' in point ? { ...point, nth: 1 + (point.nth % 7) } : { ...point, nth: 1 },
    }));
    await mapAtOnce(again, AT_ONCE, ({ one, point }) => crash(one, point));
    const all = [...cases, ...again.map(({ one }) => one)];
    const reports = await finish(all);
    expect(reports).toHaveLength(all.length * SHAPES.length);
    reports.forEach((report, index) => {
      const one = all[Math.floor(index / SHAPES.length)]!;
      judge(one, report, smooth.find(({ shape }) => shape === report.shape)!);
    });
  },
  WHOLE_MS_MAX,
);

/**
 * What every store promises, as tests. An adapter's test file calls `describeStore` with a harness
 * over real tables; the parts lie beside this file, one for each duty of the store.
 */
import { describe } from 'vitest';
import { describeActs } from './conform-acts.ts';
import { describeArchive } from './conform-archive.ts';
import { describeBounds } from './conform-bounds.ts';
import { describeBulk } from './conform-bulk.ts';
import { describeCensus } from './conform-census.ts';
import { describeChanges } from './conform-changes.ts';
import { describeClaims } from './conform-claims.ts';
import { describeEnqueue } from './conform-enqueue.ts';
import { describeFollowers } from './conform-followers.ts';
import { describeLeft } from './conform-left.ts';
import { describeLimits } from './conform-limits.ts';
import { describeLists } from './conform-lists.ts';
import { describePods } from './conform-pods.ts';
import { describeReader } from './conform-reader.ts';
import { describeReaderAtRandom } from './conform-reader-random.ts';
import { describeRetention } from './conform-retention.ts';
import { describeRevisions } from './conform-revisions.ts';
import { describeRivals } from './conform-rivals.ts';
import { describeSchedules } from './conform-schedules.ts';
import { describeSequences } from './conform-sequences.ts';
import { describeSettle } from './conform-settle.ts';
import { describeSweep } from './conform-sweep.ts';
import { describeTake } from './conform-take.ts';
import { describeThrottles } from './conform-throttles.ts';
import { describeTurns } from './conform-turns.ts';
import { describeVersions } from './conform-versions.ts';
import { describeWatch } from './conform-watch.ts';
import { type StoreHarness, useScene } from './harness.ts';

export type { PlainRow, StoreHarness, TableName } from './harness.ts';

export function describeStore(name: string, harness: StoreHarness): void {
  describe(`the ${name} store`, () => {
    const scene = useScene(harness);
    describe('pods', () => describePods(scene));
    describe('what is known of APIs', () => describeThrottles(scene));
    describe('tasks on their way in', () => describeEnqueue(scene));
    describe('claims', () => describeClaims(scene));
    describe('serial keys', () => describeTurns(scene));
    describe('tasks that follow others', () => describeFollowers(scene));
    describe('queues', () => describeLimits(scene));
    describe('bounds', () => describeBounds(scene));
    describe('settling', () => describeSettle(scene));
    describe('history', () => describeArchive(scene));
    describe('versions', () => describeVersions(scene));
    describe('the sweep', () => describeSweep(scene));
    describe('taking over', () => describeTake(scene));
    describe('what was left', () => describeLeft(scene));
    describe('retention and the hopeless', () => describeRetention(scene));
    describe('what people change', () => describeChanges(scene));
    describe('what people do', () => describeActs(scene));
    describe('what people do to many', () => describeBulk(scene));
    describe('schedules', () => describeSchedules(scene));
    describe('what people have seen', () => describeRevisions(scene));
    describe('what people see', () => describeLists(scene));
    describe('what live views see', () => describeWatch(scene));
    describe('the census', () => describeCensus(scene));
    if (!harness.readsAlike) {
      describe('what people ask', () => describeReader(scene));
      describe('what people ask at random', () => describeReaderAtRandom(scene));
    }
    describe('rivals', () => describeRivals(scene));
    describe('random sequences', () => describeSequences(scene));
  });
}

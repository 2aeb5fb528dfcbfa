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
import { describeRestore } from './conform-restore.ts';
import { describeRetention } from './conform-retention.ts';
import { describeRevisions } from './conform-revisions.ts';
import { describeRivals } from './conform-rivals.ts';
import { describeRunnable } from './conform-runnable.ts';
import { describeSchedules } from './conform-schedules.ts';
import { describeSequences } from './conform-sequences.ts';
import { describeServers } from './conform-servers.ts';
import { describeSettle } from './conform-settle.ts';
import { describeShares } from './conform-shares.ts';
import { describeSweep } from './conform-sweep.ts';
import { describeTake } from './conform-take.ts';
import { describeThrottles } from './conform-throttles.ts';
import { describeTurns } from './conform-turns.ts';
import { describeVersions } from './conform-versions.ts';
import { describeWatch } from './conform-watch.ts';
import { type Scene, type StoreHarness, useScene } from './harness.ts';

export type { PlainRow, StoreHarness, TableName } from './harness.ts';

/** What a store does, each part by itself. */
const PARTS: Readonly<Record<string, (scene: Scene) => void>> = {
  pods: describePods,
  'what is known of APIs': describeThrottles,
  'tasks on their way in': describeEnqueue,
  claims: describeClaims,
  'serial keys': describeTurns,
  'tasks that follow others': describeFollowers,
  'shares of queues': describeShares,
  queues: describeLimits,
  bounds: describeBounds,
  'what no pod can run': describeRunnable,
  settling: describeSettle,
  history: describeArchive,
  versions: describeVersions,
  'the sweep': describeSweep,
  'taking over': describeTake,
  'claims of a lost server': describeRestore,
  'writes for one server': describeServers,
  'what was left': describeLeft,
  'retention and the hopeless': describeRetention,
  'what people change': describeChanges,
  'what people do': describeActs,
  'what people do to many': describeBulk,
  schedules: describeSchedules,
  'what people have seen': describeRevisions,
  'what people see': describeLists,
  'what live views see': describeWatch,
  'the census': describeCensus,
  'what people ask': describeReader,
  'what people ask at random': describeReaderAtRandom,
  rivals: describeRivals,
  'random sequences': describeSequences,
};

/** What needs something that a store may lack, and what readers of another harness have shown. */
function leftOut({ lacks = [], readsAlike, leaves = [] }: StoreHarness): readonly string[] {
  return [
    ...(lacks.includes('serial keys') ? ['serial keys'] : []),
    ...(lacks.includes('queue limits') ? ['queues', 'shares of queues'] : []),
    ...(lacks.includes('following') ? ['tasks that follow others'] : []),
    ...(readsAlike ? ['what people ask', 'what people ask at random'] : []),
    ...leaves,
  ];
}

export function describeStore(name: string, harness: StoreHarness): void {
  describe(`the ${name} store`, () => {
    const scene = useScene(harness);
    const out = leftOut(harness);
    for (const [part, describePart] of Object.entries(PARTS)) {
      if (!out.includes(part)) describe(part, () => describePart(scene));
    }
  });
}

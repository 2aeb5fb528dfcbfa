/**
 * npm run bench -- growth NAME: how the cost of one thing grows with how much there is. Each looks from outside,
 * with pods of the built files and the statistics of Postgres, so that the same bench measures an older commit.
 */
import { growthOfAdoption } from './growth/adoption.ts';
import { growthOfBurst } from './growth/burst.ts';
import { growthOfCensus } from './growth/census.ts';
import { growthOfHeartbeats } from './growth/heartbeats.ts';
import { growthOfHeldXmin } from './growth/held-xmin.ts';
import { growthOfLocalRuns } from './growth/local-runs.ts';
import { growthOfPickup } from './growth/pickup.ts';
import { growthOfQueues } from './growth/queues.ts';
import { growthOfRetention } from './growth/retention.ts';
import { growthOfRetentionRate } from './growth/retention-rate.ts';

const GROWTHS: Record<string, () => Promise<object>> = {
  adoption: growthOfAdoption,
  burst: growthOfBurst,
  census: growthOfCensus,
  heartbeats: growthOfHeartbeats,
  'held-xmin': growthOfHeldXmin,
  'local-runs': growthOfLocalRuns,
  pickup: growthOfPickup,
  queues: growthOfQueues,
  retention: growthOfRetention,
  'retention-rate': growthOfRetentionRate,
};

export function benchGrowth(name: string | undefined): Promise<object> {
  const growth = name === undefined ? undefined : GROWTHS[name];
  if (!growth) {
    const names = Object.keys(GROWTHS).join(', ');
    throw new Error(
      `growth wants the name of what grows, got ${name ?? 'none'}; there are: ${names}`,
    );
  }
  return growth();
}

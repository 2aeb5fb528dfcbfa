/** Everything at once, small: npm run proof -- sink does the same with a million records. */
import { expect, test } from 'vitest';
import { playSiege } from './siege.ts';

test('a sink that is killed while answers are lost archives every record once, in order', async () => {
  const report = await playSiege({ events: 3_000, kills: 2, batches: [1, 2] });
  expect(report).toMatchObject({
    ...{ isGood: true, events: 3_000, missing: 0, doubled: 0, wrong: 0, disordered: 0 },
    kills: expect.any(Number),
  });
  expect(report.kills).toBeGreaterThanOrEqual(2);
}, 300_000);

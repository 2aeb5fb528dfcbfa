/** A small one of npm run proof -- snowflake: real pods, the real driver, kills, and lost answers. */
import { expect, test } from 'vitest';
import { playSnowflake } from './play.ts';

test('pods on an account lose nothing and persist nothing twice, though killed and left without answers', async () => {
  const report = await playSnowflake({
    ...{ kind: 'hybrid', tasks: 50, pods: 3, kills: 1 },
    ...{ doubtShare: 0.15, seed: 3 },
  });
  expect(report.examples).toEqual([]);
  expect(report).toMatchObject({ isGood: true, completed: 50, lost: 0, doubled: 0, kills: 1 });
  expect(report.doubts).toBeGreaterThan(0);
}, 300_000);

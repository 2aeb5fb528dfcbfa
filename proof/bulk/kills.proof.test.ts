/** What `npm run proof -- bulk` shows of 100,000 letters, with a few hundred. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runBulkKills } from './kills.ts';

test('pods that are killed at a bulk operation leave each letter redriven, audited and counted once', async () => {
  const report = await runBulkKills({
    bin: fileURLToPath(new URL('../../dist/bin.js', import.meta.url)),
    letters: 400,
    kills: 2,
    pods: 2,
    rate: 40,
    secondsMax: 150,
  });
  expect(report).toMatchObject({
    isGood: true,
    kills: 2,
    redriven: 400,
    others: 0,
    audited: 400,
    auditedOddly: 0,
    counted: { found: 400, done: 400, requested: 0, already: 0, refused: 0 },
  });
}, 240_000);

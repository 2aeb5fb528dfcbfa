/** What a task waits for that others hold: its turn, room in its queue, or a pause; in every store alike. */
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { FlowDeed } from '../../../src/store/queues.ts';
import { MACHINE, ROUTE } from '../../store/factories.ts';
import { useScene } from '../../store/harness.ts';
import { openMigrated, sqliteHarness } from '../../store/sqlite-harness.ts';
import { useTempDirs } from '../../support/temp-dir.ts';
import { expectReason, explained } from './support.ts';

const newDir = useTempDirs();
const file = join(newDir(), 'fleet.db');
beforeAll(async () => (await openMigrated(file)).close());
const scene = useScene(sqliteHarness(file));

async function fleet() {
  await scene.store.announce([{ route: ROUTE, fingerprint: 'f', shape: '[]' }]);
  return scene.pod('alder');
}
const change = (deed: FlowDeed) =>
  scene.store.changeFlow({ requestId: `${deed.what}`, who: 'ann', via: 'test', deed });

test('a task behind another of its serial key is told behind which run', async () => {
  const pod = await fleet();
  const first = await scene.enqueue({ serialKey: 'ada' });
  const second = await scene.enqueue({ serialKey: 'ada' });
  await scene.claim(pod);
  expectReason(await explained(scene.store, second), {
    code: 'waiting-for-turn',
    says: new RegExp(
      `^It waits for its turn: .* ada .*, and run ${first}, which is claimed, has it`,
    ),
    command: new RegExp(`^fleetq explain ${first}$`),
  });
});

test('a task of a queue that is full is told by whom', async () => {
  const pod = await fleet();
  await change({ what: 'queue.limit', queue: 'reports', limit: 1 });
  await scene.enqueue({ queue: 'reports' });
  const second = await scene.enqueue({ queue: 'reports' });
  await scene.claim(pod);
  expectReason(await explained(scene.store, second), {
    code: 'queue-limited',
    says: /^Its queue reports is full: 1 of at most 1 of its tasks are claimed \(alder holds 1\)\.$/,
    command: /^fleetq queues limit reports …$/,
  });
});

test('a task of a queue or a machine that is paused is told by whom and when', async () => {
  await fleet();
  const id = await scene.enqueue({ queue: 'reports' });
  await change({ what: 'queue.pause', queue: 'reports' });
  expectReason(await explained(scene.store, id), {
    code: 'queue-paused',
    says: /^Its queue reports is paused: ann paused it .* ago, and nobody takes/,
    command: /^fleetq queues resume reports$/,
  });
  await change({ what: 'machine.pause', machine: MACHINE });
  expectReason(await explained(scene.store, id), {
    code: 'machine-paused',
    says: /^Its machine sample\/one is paused: ann paused it .* ago/,
    command: /^fleetq queues resume --machine sample\/one$/,
  });
  expect(await scene.store.pausedMachines()).toHaveLength(1);
});

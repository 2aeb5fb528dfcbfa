/** A process for suspects that cannot be started: the next one is tried, and nothing is left of it. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Suspects } from '../../src/fleet/suspects.ts';
import { suspectProcess } from '../../src/suspect-process.ts';
import { podOf } from '../store/harness.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { HEARTBEAT_MS, useTestFleets } from './support.ts';

const { hear } = useTestFleets();

function newScene(begin: () => ReturnType<ReturnType<typeof suspectProcess>>) {
  const clock = new FakeClock();
  const suspects = new Suspects({
    store: { hasSuspects: async () => true, fence: async () => true },
    clock,
    routes: ['poison@1'],
    self: () => podOf('alder'),
    begin,
  });
  const beats = async (count: number) => {
    for (let beat = 0; beat < count; beat += 1) {
      suspects.look();
      await clock.advance(HEARTBEAT_MS);
    }
  };
  return { suspects, beats };
}

const EAGAIN = new Error('spawn node EAGAIN');
const stillborn = (pods: readonly string[] = []) => ({
  pods: new Set(pods),
  ended: Promise.reject(EAGAIN),
  stop: () => undefined,
});

test('a process for suspects that cannot be started is started again, and not with every beat', async () => {
  const failures = hear('suspects.failed');
  let count = 0;
  const { beats } = newScene(() => {
    count += 1;
    return stillborn();
  });
  await beats(20);
  expect(count).toBe(10);
  expect(failures).toHaveLength(10);
  expect(failures[0]).toMatchObject({ error: { message: EAGAIN.message } });
});

test('a process for suspects that was a pod is followed at once', async () => {
  let count = 0;
  const { beats } = newScene(() => {
    count += 1;
    return { pods: new Set(['old']), ended: Promise.resolve(), stop: () => undefined };
  });
  await beats(20);
  expect(count).toBe(20);
});

test('I46: a process that cannot be started can be stopped, and leaves nothing open', async () => {
  const { execPath } = process;
  const before = process.getActiveResourcesInfo().length;
  const start = suspectProcess({ store: 'sqlite:./none.db', modules: [], dataDir: './none' });
  try {
    process.execPath = '/nowhere/node';
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const started = start();
      await expect(started.ended).rejects.toThrow('ENOENT');
      await turns();
      started.stop();
    }
  } finally {
    process.execPath = execPath;
  }
  await turns();
  expect(process.getActiveResourcesInfo().length).toBeLessThanOrEqual(before);
});

/** Its channel ends a little after it. */
async function turns(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await turn();
}

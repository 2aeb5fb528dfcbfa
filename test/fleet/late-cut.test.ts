/**
 * That an owner was cut off is counted once: the records of the next one, which tell of it, may come
 * only after the task was taken from that one too.
 */
import { expect, test, vi } from 'vitest';
import { interruptionOf } from '../../src/fleet/history.ts';
import type { Duration } from '../../src/ground/index.ts';
import { defineMachine } from '../../src/index.ts';
import { type EventRow, SqliteJournal } from '../../src/journal/index.ts';
import type { ClaimedTask, PodId } from '../../src/store/index.ts';
import { never } from '../support/fleets.ts';
import { Script } from './script.ts';
import { anyInput, useTestFleets, whileAdvancing } from './support.ts';

const { startFleet } = useTestFleets();

/** Alder has begun a task and died; birch has it since, and left it in a hurry. */
async function newScene(archive: Duration) {
  const script = new Script();
  const retry = { attemptMax: 2, backoff: () => 100 };
  const machine = defineMachine({
    ...{ name: 'one', version: 1, input: anyInput, retry },
    ...script.phases,
  });
  const options = { machines: [machine], around: script.around, archive } as const;
  const fleet = startFleet();
  const { clock, store, startPod } = fleet;
  const alder = await startPod('alder', options);
  script.holds.set('main.work', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(3_000);
  const dead = alder.id;
  alder.crash();
  await take(dead, 'somebody' as PodId);
  // Whatever birch records does not get away before it goes.
  const birch = await startPod('birch', { ...options, archive: '1h' });
  await clock.advance(3_000);
  birch.wire.isBusyFor.set('archive', 1_000);
  const left = birch.id;
  const refused = vi
    .spyOn(SqliteJournal.prototype, 'append')
    .mockRejectedValue(new Error('no space left'));
  await whileAdvancing(clock, birch.fleet.drain({ budget: '8s' }));
  refused.mockRestore();
  await take(left, left);
  expect(await fleet.row(id)).toMatchObject({ status: 'pending', interruption: 'cut', crashes: 1 });
  script.holds.clear();

  async function take(from: PodId, by: PodId): Promise<void> {
    await store.fence(from, by, 'proved');
    const taking = { from, by, to: 'pool', countMax: 1, spreadMs: 0 } as const;
    expect(await store.take({ ...taking, crashed: 'all' })).toHaveLength(1);
  }
  /** Birch comes back, sends what is on its disk, and goes on as anybody would. */
  const comeBack = () => startPod('birch', { ...options, dataDir: birch.dataDir });
  return { ...fleet, id, options, comeBack };
}

const FIRST = ['STARTED', 'DONE'];
const COUNTED = ['TAKEN', 'INTERRUPTED', 'PROBED'];
/** As after any drain: the real resource is asked, and nothing is counted. */
const FREE = ['TAKEN', 'PROBED', 'DONE', 'DONE', 'DONE'];

test.each<[string, Duration, string[]]>([
  ['had begun it anew', '1h', [...FIRST, ...FREE]],
  ['had counted it', '100ms', [...FIRST, ...COUNTED, ...FREE]],
])('I29: a crash counts once, though the owner that %s was heard late', async (_, archive, all) => {
  const { clock, comeBack, history, row, id } = await newScene(archive);
  await comeBack();
  await clock.advance(5_000);
  expect(await history(id)).toEqual(all);
  expect(await row(id)).toMatchObject({ status: 'completed', epoch: 5, retryCount: 0 });
});

test('I29: a crash that nobody has told of is counted by whoever comes next', async () => {
  const { clock, startPod, options, history, id } = await newScene('100ms');
  await startPod('cedar', options);
  await clock.advance(5_000);
  expect((await history(id)).slice(0, 5)).toEqual([...FIRST, ...COUNTED]);
});

test('I41: a number that an older pod has left standing says nothing of what was cut off since', () => {
  const rows = [1, 3, 9].map((epoch, seq) => ({ seq, epoch })) as unknown as EventRow[];
  const found = (cutEpoch: number | undefined, lastSeq: number) =>
    interruptionOf({ interruption: 'cut', cutEpoch, lastSeq } as ClaimedTask, rows);
  expect(found(1, -1), 'epoch 3 has told of it').toBe('left');
  expect(found(1, 0)).toBe('left');
  expect(found(1, 1), 'epoch 3 has settled it since').toBe('cut');
  expect(found(9, 1)).toBe('cut');
  expect(found(undefined, -1)).toBe('cut');
});

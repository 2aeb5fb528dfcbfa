/** I43: what fails in a pod is the pod's, and ends no run: the run goes back, and is done. */
import { afterEach, expect, test, vi } from 'vitest';
import { SqliteJournal } from '../../src/journal/index.ts';
import { Script, twoSteps } from './script.ts';
import { useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();
afterEach(() => vi.restoreAllMocks());

async function onePod() {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const pod = await fleet.startPod('alder', { machines: [machine], around: script.around });
  return { script, machine, ...fleet, pod };
}

/** The journal refuses the next record for which this holds, with an error that nobody knows. */
function refuseOnce(isIt: (state: string) => boolean): void {
  const { append } = SqliteJournal.prototype;
  let isSpent = false;
  vi.spyOn(SqliteJournal.prototype, 'append').mockImplementation(function (this: SqliteJournal, entry, written) {
    if (isSpent || !isIt(entry.state)) return append.call(this, entry, written);
    isSpent = true;
    return Promise.reject(new Error('a defect of ours'));
  });
}

test('a task that a pod fails to take goes back, and is done later', async () => {
  const { machine, clock, row, pod } = await onePod();
  const faults = hear('pod.faulted');
  refuseOnce((state) => state === 'a.check');
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(1_000);
  expect(await row(id)).toMatchObject({ status: 'waiting', waitFor: 'retry', retryCount: 0 });
  expect(faults).toEqual([{ run: id, machine: 'two', reason: 'a defect of ours' }]);
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'completed' });
});

test('a record that a pod fails to write cuts the phase off: it is probed and tried again', async () => {
  const { script, machine, clock, row, pod } = await onePod();
  const faults = hear('pod.faulted');
  refuseOnce((state) => state === 'a.validate');
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(5_000);
  expect(faults).toHaveLength(1);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('a.work')).toBe(2);
  expect(script.count('a.check') + script.count('a.probe')).toBe(2);
});

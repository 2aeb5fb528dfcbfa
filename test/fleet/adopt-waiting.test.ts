/** A run that waits in place when its process dies was inside of nothing: it has crashed nobody. */
import { expect, test } from 'vitest';
import { defineMachine, listen } from '../../src/index.ts';
import { never } from '../support/fleets.ts';
import { Script, sleeper } from './script.ts';
import { anyInput, useTestFleets } from './support.ts';

const { startFleet } = useTestFleets();

function trying(script: Script) {
  const retry = { attemptMax: 9, backoff: () => 4_000 };
  const shape = { name: 'trying', version: 1, input: anyInput, retry, ...script.phases };
  return defineMachine(shape);
}

test.each([
  ['sleeps', (script: Script) => sleeper(script, '4s')],
  [
    'waits for its next attempt',
    (script: Script) => {
      script.throws.set('main.work', () => new Error('not yet'));
      return trying(script);
    },
  ],
])('I29: a run that %s while its process dies has not crashed it', async (_, machineOf) => {
  const script = new Script();
  const machine = machineOf(script);
  const { clock, startPod, row, tables } = startFleet();
  const options = { machines: [machine], around: script.around } as const;
  const first = await startPod('alder', options);
  const { id } = await first.fleet.enqueue(machine, {});
  await clock.advance(500);
  const dataDir = first.crash();
  script.throws.clear();
  // How long it takes to start is a matter of the host: the wait may be over by then.
  const adopted: unknown[] = [];
  const stop = listen('pod.adopted', () => adopted.push({ ...tables.tasks.get(id) }));
  await startPod('alder', { ...options, dataDir });
  stop();
  expect(adopted).toMatchObject([{ crashes: 0, interrupted: undefined, claimEpoch: 2 }]);
  await clock.advance(10_000);
  expect(await row(id)).toMatchObject({ status: 'completed', crashes: 0 });
});

test('I29: one that has gone on after its wait has crashed the process that died then', async () => {
  const script = new Script();
  const machine = trying(script);
  const { clock, startPod, row } = startFleet();
  const options = { machines: [machine], around: script.around } as const;
  script.throws.set('main.work', () => new Error('not yet'));
  const pod = await startPod('alder', options);
  const { id } = await pod.fleet.enqueue(machine, {});
  await clock.advance(500);
  script.throws.clear();
  script.holds.set('main.probe', never());
  await clock.advance(4_500);
  expect(script.count('main.probe')).toBe(1);
  await startPod('alder', { ...options, dataDir: pod.crash() });
  expect(await row(id)).toMatchObject({ status: 'claimed', crashes: 1, interruption: 'cut' });
});

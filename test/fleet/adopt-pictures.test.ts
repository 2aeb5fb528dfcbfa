/** What the fleet sees of the runs of a host comes after its process is ready, and holds none of them up. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { anyInput, useTestFleets, Wire } from './support.ts';

const { startFleet, hear } = useTestFleets();

/** A pod that was killed while a run of its host slept, which the fleet sees. */
async function newScene() {
  const woken: string[] = [];
  const sleeper = defineMachine({
    name: 'sleeper',
    version: 1,
    input: anyInput,
    steps: (line) =>
      line.sleep('night', '1m').step('morning', {
        check: 'none',
        work: ({ runId }) => {
          woken.push(runId);
          return 'awake';
        },
      }),
  });
  const fleet = startFleet();
  const options = { machines: [sleeper] };
  const first = await fleet.startPod('alder', options);
  const { id } = await first.fleet.startLocal(sleeper, {});
  await fleet.clock.advance(5_000);
  expect(await fleet.row(id)).toMatchObject({ status: 'claimed', claimedBy: first.id });
  return { ...fleet, woken, options, first, id, dataDir: first.crash() };
}

test('I21: a process is ready, and runs what is due, before the store knows it for a host again', async () => {
  const { clock, row, startPod, woken, options, first, id, dataDir } = await newScene();
  const wire = new Wire();
  let open = () => {};
  const heads = new Promise<void>((resolve) => {
    open = resolve;
  });
  wire.holdsAnswers.set('heads', heads);
  const second = await startPod('alder', { ...options, dataDir, wire });
  expect(second.fleet.status.pod?.isReady).toBe(true);
  expect(woken).toEqual([]);
  await clock.advance(60_000);
  expect(woken).toEqual([id]);
  open();
  wire.holdsAnswers.clear();
  await clock.advance(5_000);
  expect(await row(id)).toMatchObject({ status: 'completed', result: '"awake"', crashes: 0 });
  expect(await second.store.retire(first.id)).toBe(true);
});

test('what the fleet sees of a host is shown again though the store fails meanwhile', async () => {
  const { clock, row, startPod, options, id, dataDir } = await newScene();
  const adopted = hear('pod.adopted');
  const wire = new Wire();
  wire.isBusyFor.set('heads', 3);
  const second = await startPod('alder', { ...options, dataDir, wire });
  await clock.advance(10_000);
  expect(wire.isBusyFor.get('heads')).toBe(0);
  expect(await row(id)).toMatchObject({ status: 'claimed', claimedBy: second.id });
  expect(adopted).toMatchObject([{ pod: second.id, pods: 1 }]);
});

/** The archive as a run sees it: phases that must be there first, and a pod that has too much to send. */
import { afterEach, expect, test } from 'vitest';
import { Engine } from '../../src/engine/index.ts';
import { inlineHeart, Pod } from '../../src/fleet/index.ts';
import { Routes } from '../../src/fleet/routes.ts';
import { defineMachine } from '../../src/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';
import { Registry } from '../../src/machine/index.ts';
import { MemoryStore, MemoryTables } from '../../src/store/index.ts';
import { newTask } from '../store/factories.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { gate, never } from '../support/fleets.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Script } from './script.ts';
import { anyInput, SILENT_MS, STEADY_MS, useTestFleets, Wire, whileAdvancing } from './support.ts';

const { startFleet, newDir } = useTestFleets();
const pods: Pod[] = [];
afterEach(() => {
  for (const pod of pods.splice(0)) pod.abandon();
});

test("flush: 'sync': the next phase begins when the store has the record, and no take-over repeats it", async () => {
  const script = new Script();
  const machine = defineMachine({
    name: 'careful',
    version: 1,
    input: anyInput,
    flush: { work: 'sync' },
    ...script.phases,
  });
  const { clock, startPod, row, history } = startFleet();
  const options = { machines: [machine], around: script.around, archive: '1h' } as const;
  const alder = await startPod('alder', options);
  await startPod('witness', { machines: [] });
  await clock.advance(STEADY_MS);
  const answer = gate();
  alder.wire.holdsAnswers.set('archive', answer.opened);
  script.holds.set('main.validate', never());
  const { id } = await alder.fleet.enqueue(machine, {});
  await clock.advance(2_000);
  expect(script.calls).toEqual(['main.check@1', 'main.work@1']);
  answer.open();
  await clock.advance(100);
  expect(await history(id)).toEqual(['STARTED', 'DONE', 'DONE']);
  expect(script.count('main.validate')).toBe(1);
  alder.crash();
  script.holds.clear();
  await startPod('birch', options);
  await clock.advance(2 * SILENT_MS);
  expect(await row(id)).toMatchObject({ status: 'completed' });
  expect(script.count('main.work')).toBe(1);
});

test('I35: a pod that has too much to send claims nothing until the store has it', async () => {
  const clock = new FakeClock();
  const tables = new MemoryTables({ clock, random: seededRandom(1) });
  const wire = new Wire();
  const store = new MemoryStore(tables, { way: wire.way });
  const script = new Script();
  const machine = defineMachine({
    name: 'busy',
    version: 1,
    input: anyInput,
    check: 'none',
    ...{ work: script.phases.work, persist: script.phases.persist },
  });
  const registry = new Registry([machine]);
  const random = seededRandom(2);
  const journal = SqliteJournal.open(newDir(), { clock, random });
  const engine = new Engine({
    journal,
    registry,
    clock,
    random,
    slots: 100,
    resultBytesMax: 1_000_000,
    activeRunsMax: 1_000,
    retentionMs: 1_000_000,
    around: script.around,
  });
  const pod = new Pod(
    {
      store,
      engine,
      journal,
      registry,
      clock,
      random,
      makeHeart: inlineHeart(store),
      pressure: () => ({ loop: 0, memory: 0 }),
      name: 'alder',
      version: '0',
      adoptLocal: async () => undefined,
      routes: new Routes({ store, registry }),
      changedMachines: 'refuse',
      isSuspectsOnly: false,
      times: { heartbeatMs: 1_000, silentMs: 5_000, archiveMs: 500, idlePollMs: 1_000 },
      limits: { slots: 100, unflushedMax: 20, payloadBytesMax: 1_000_000 },
    },
    { onDrainWanted: () => undefined },
  );
  pods.push(pod);
  await engine.start();
  await whileAdvancing(clock, pod.start());
  script.holds.set('main.persist', never());
  const answer = gate();
  wire.holdsAnswers.set('archive', answer.opened);
  const direct = new MemoryStore(tables);
  const enqueue = () =>
    direct.enqueue(Array.from({ length: 15 }, () => newTask({ machine: 'busy', payload: '{}' })));
  await enqueue();
  await clock.advance(3_000);
  expect(pod.status.unflushed).toBeGreaterThanOrEqual(20);
  await enqueue();
  await clock.advance(5_000);
  expect(pod.status.held).toBe(15);
  wire.holdsAnswers.clear();
  answer.open();
  await clock.advance(3_000);
  expect(pod.status.held).toBe(30);
  engine.stopNow();
});

/**
 * What an owner in between flushes when the task is long another's, who had nothing to record: it read
 * all there was and settled it as it found it. The row then tells which history counts.
 */
import { expect, test } from 'vitest';
import { recordsOf } from '../../src/cli/fleet/history.ts';
import { rowsOf, segmentOf } from '../../src/fleet/history.ts';
import { abort } from '../../src/index.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { encodeEntry } from '../../src/journal/record.ts';
import type { Claim, PodId } from '../../src/store/index.ts';
import { redriveTask } from '../store/acts.ts';
import { birthOf, claimRequest } from '../store/harness.ts';
import { gate, never } from '../support/fleets.ts';
import { Script, twoSteps } from './script.ts';
import { useTestFleets, Wire } from './support.ts';

const { startFleet } = useTestFleets();

/** Alder has done what the script lets it, and died; cedar has the task since, by hand. */
async function newScene(prepare: (script: Script, wire: Wire) => void) {
  const script = new Script();
  const machine = twoSteps(script);
  const fleet = startFleet();
  const { store, clock } = fleet;
  const options = { machines: [machine], around: script.around, archive: '100ms' } as const;
  const wire = new Wire();
  const work = gate();
  script.holds.set('a.work', work.opened);
  prepare(script, wire);
  const alder = await fleet.startPod('alder', { ...options, wire });
  const { id: task } = await alder.fleet.enqueue(machine, {});
  // Its first records are archived by then, and the others are on their way.
  await clock.advance(1_000);
  work.open();
  await clock.advance(1_000);
  const dead = alder.id;
  const dataDir = alder.crash();
  await sweep(dead);
  const cedar = await owner('cedar');
  script.holds.clear();
  script.throws.clear();
  script.calls.length = 0;

  async function sweep(from: PodId): Promise<void> {
    await store.fence(from, from, 'proved');
    const taking = { from, by: from, to: 'pool', countMax: 1, spreadMs: 0 } as const;
    expect(await store.take({ ...taking, crashed: 'none' })).toHaveLength(1);
  }
  async function owner(name: string): Promise<{ readonly pod: PodId; readonly claim: Claim }> {
    const birth = birthOf(name);
    await store.register(birth);
    const routes = [`${machine.name}@1`];
    const [claim] = await store.claim({ ...claimRequest(birth.pod), routes });
    return { pod: birth.pod, claim: claim! };
  }
  /** What alder has recorded, as far as the store has it. */
  const recorded = async () =>
    rowsOf(task, await store.histories([{ task, generation: 1 }]), undefined);
  /** Cedar had seen the first record, and gone on from that. */
  const flushLate = async () => {
    const { hash: prevHash } = (await recorded())[0]!;
    const event = { type: 'TAKEN', pod: cedar.pod } as const;
    const { epoch } = cedar.claim;
    const entry = { run: task, seq: 1, at: 1, epoch, event, state: 'a.check' };
    const { data, hash } = encodeEntry({ ...entry, prevHash }, identityCodec);
    const taken = { ...entry, event: event.type, data, hash };
    const late = segmentOf(cedar.claim, prevHash, [taken])!;
    expect(await store.archive([late])).toEqual([{ task, kind: 'held' }]);
    expect((await recorded()).at(-1)).toMatchObject({ hash });
  };
  const sweepCedar = () => sweep(cedar.pod);
  return { ...fleet, script, options, task, dataDir, sweepCedar, owner, recorded, flushLate };
}

const places = (script: Script) => script.calls.map((call) => call.split('@')[0]);

test('I13: an end that was settled as it was found stands against whatever is flushed late', async () => {
  const scene = await newScene((script, wire) => {
    script.throws.set('b.work', () => abort('broken', { kind: 'user' }));
    wire.isBusyFor.set('settle', 1_000);
  });
  const { startPod, options, dataDir, clock, store, script, row, task } = scene;
  // It archives what is on its disk, which the fleet has given to another.
  await startPod('alder', { ...options, dataDir });
  const last = (await scene.recorded()).at(-1)!;
  await scene.sweepCedar();
  await clock.advance(10_000);
  const settled = await row(task);
  expect(settled).toMatchObject({ status: 'failed', epoch: 5, lastHash: last.hash });
  await scene.flushLate();
  expect((await recordsOf(store, settled)).at(-1)).toMatchObject({ hash: last.hash });
  expect(script.calls).toEqual([]);
  // I30: it keeps what was finished, which the late words know nothing of.
  await redriveTask(store, task, { generation: 1 }, { isFresh: false });
  await clock.advance(10_000);
  expect(await row(task)).toMatchObject({ status: 'completed', generation: 2 });
  expect(places(script)).toEqual(['b.check', 'b.work', 'b.validate', 'b.persist']);
});

test('I19: a task that was given back as it was found goes on from there, whatever is flushed late', async () => {
  const scene = await newScene((script) => script.holds.set('b.work', never()));
  const { startPod, options, clock, store, script, row, task } = scene;
  const { seq, hash } = (await scene.recorded()).at(-1)!;
  await scene.sweepCedar();
  const { pod, claim } = await scene.owner('dogwood');
  const asFound = { tail: undefined, lastSeq: seq, lastHash: hash };
  const nothingDone = { retriesAdd: 0, hasCompletedStep: false };
  await store.settle(pod, [{ ...claim, ...asFound, ...nothingDone, to: 'pending' }]);
  await scene.flushLate();
  await startPod('birch', options);
  await clock.advance(10_000);
  expect(await row(task)).toMatchObject({ status: 'completed', epoch: 7 });
  expect(places(script)).toEqual(['b.work', 'b.validate', 'b.persist']);
});

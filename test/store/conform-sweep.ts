/** The sweep: what it looks at, the fence before everything else, and the end of a pod. */
import { expect, test } from 'vitest';
import { completed, HOUR, MINUTE } from './factories.ts';
import { podOf, type Scene } from './harness.ts';

const SILENT = { silentMs: 15_000 };

export function describeSweep(scene: Scene): void {
  const beat = (name: string, seq: number) =>
    scene.store.beat({ pod: podOf(name), seq, nonce: `${seq}`, lsn: 0, report: {} });
  const taking = { by: podOf('sweeper'), to: 'pool', crashed: 'all', spreadMs: 0 } as const;

  test('an idle fleet leaves nothing to sweep', async () => {
    expect(await scene.store.worklist(15_000)).toEqual({
      silent: [],
      dead: [],
      ownerless: [],
      liveCount: 0,
    });
    await scene.pod('alder');
    expect(await scene.store.worklist(15_000)).toEqual({
      silent: [],
      dead: [],
      ownerless: [],
      liveCount: 1,
    });
  });

  test('the worklist names the silent, the dead, and owners that nobody knows', async () => {
    scene.isChecked = false;
    const [alder, birch] = [await scene.pod('alder'), await scene.pod('birch')];
    const [cedar, dogwood] = [await scene.pod('cedar'), await scene.pod('dogwood')];
    await scene.pod('elm');
    await scene.store.markDraining(birch);
    await scene.kill(cedar, alder);
    await scene.kill(dogwood, dogwood);
    await scene.store.retire(dogwood);
    const claim = { status: 'claimed', claim_epoch: 1, machine: 'sample/one' };
    await scene.harness.insertPlain({ ...claim, claimed_by: 'pod-ghost' });
    await scene.harness.insertPlain({ ...claim, claimed_by: 'pod-ghost' });
    await scene.harness.insertPlain({ ...claim, claimed_by: dogwood });
    await scene.harness.insertPlain({ ...claim, claimed_by: cedar });
    await scene.pass(20_000);
    await beat('elm', 0);
    const list = await scene.store.worklist(15_000);
    expect(list.silent.map(({ pod, status }) => [pod, status]).sort()).toEqual([
      [alder, 'up'],
      [birch, 'draining'],
    ]);
    expect(list.silent[0]!.silentMs).toBeGreaterThanOrEqual(20_000);
    expect(list.dead).toMatchObject([{ pod: cedar, status: 'dead', deadBy: alder }]);
    expect([...list.ownerless].sort()).toEqual([dogwood, 'pod-ghost']);
    expect(list.liveCount).toBe(3);
    // A claim of a pod that is not known breaks a rule of the tables.
    expect(await scene.store.violations()).not.toEqual([]);
  });

  test('claims without an owner are taken back like those of the dead', async () => {
    const claim = { status: 'claimed', claim_epoch: 4, machine: 'sample/one' };
    const id = await scene.harness.insertPlain({ ...claim, claimed_by: 'pod-ghost' });
    expect(await scene.store.violations()).not.toEqual([]);
    const taken = await scene.store.take({ ...taking, from: podOf('ghost'), countMax: 10 });
    expect(taken).toMatchObject([{ task: id, status: 'pending', crashes: 1, epoch: 5 }]);
    expect((await scene.store.worklist(15_000)).ownerless).toEqual([]);
    expect(await scene.claimOne(await scene.pod('alder'))).toMatchObject({ interruption: 'cut' });
  });

  test('a fresh pod is never fenced for silence (I25)', async () => {
    const pod = await scene.pod('alder');
    expect(await scene.store.fence(pod, podOf('sweeper'), SILENT)).toBe(false);
    await scene.pass(10_000);
    expect(await scene.store.fence(pod, podOf('sweeper'), SILENT)).toBe(false);
    expect(await beat('alder', 0)).toMatchObject({ kind: 'taken', status: 'up' });
  });

  test('a pod is judged by the silence it registered with, whoever sweeps (I25)', async () => {
    const patient = await scene.pod('alder', { silenceMs: 60_000 });
    const hasty = await scene.pod('birch', { silenceMs: 2_000 });
    const older = await scene.pod('cedar');
    await scene.pass(5_000);
    const silent = async (silentMs: number) =>
      (await scene.store.worklist(silentMs)).silent.map(({ pod }) => pod).sort();
    expect(await silent(1_000)).toEqual([hasty, older]);
    expect(await silent(15_000)).toEqual([hasty]);
    const by = podOf('sweeper');
    expect(await scene.store.fence(patient, by, { silentMs: 1_000 })).toBe(false);
    expect(await scene.store.fence(older, by, SILENT)).toBe(false);
    const answer = await beat('alder', 0);
    expect(answer).toMatchObject({ kind: 'taken' });
    const glimpses = answer.kind === 'taken' ? answer.fleet : [];
    expect(glimpses.map(({ pod, silenceMs }) => [pod, silenceMs])).toEqual([
      [patient, 60_000],
      [hasty, 2_000],
      [older, undefined],
    ]);
    const rows = await scene.store.pods();
    expect(rows.map(({ silenceMs }) => silenceMs)).toEqual([60_000, 2_000, undefined]);
    expect(await scene.store.fence(hasty, by, SILENT)).toBe(true);
    expect(await scene.store.fence(older, by, { silentMs: 1_000 })).toBe(true);
  });

  test('a silent pod is fenced once, and it is written down by whom', async () => {
    const pod = await scene.pod('alder');
    await scene.pass(20_000);
    expect(await scene.store.fence(pod, podOf('sweeper'), SILENT)).toBe(true);
    expect(await scene.rival.fence(pod, podOf('other'), SILENT)).toBe(false);
    const [row] = await scene.store.pods();
    expect(row).toMatchObject({ status: 'dead', deadBy: podOf('sweeper') });
    expect(row!.deadAt).toBeDefined();
    expect(await scene.store.fence(podOf('nobody'), podOf('sweeper'), SILENT)).toBe(false);
  });

  test('H7: a pod that has beaten since it was seen silent is not fenced', async () => {
    const pod = await scene.pod('alder');
    await scene.pass(20_000);
    expect((await scene.store.worklist(15_000)).silent).toMatchObject([{ pod }]);
    await beat('alder', 0);
    expect(await scene.rival.fence(pod, podOf('sweeper'), SILENT)).toBe(false);
    expect((await scene.store.worklist(15_000)).silent).toEqual([]);
  });

  test('a draining pod that falls silent is fenced too', async () => {
    const pod = await scene.pod('alder');
    await scene.store.markDraining(pod);
    await scene.pass(20_000);
    expect(await scene.store.fence(pod, podOf('sweeper'), SILENT)).toBe(true);
  });

  test('a proof of death needs no silence', async () => {
    const pod = await scene.pod('alder');
    expect(await scene.store.fence(pod, podOf('successor'), 'proved')).toBe(true);
    expect(await scene.store.fence(pod, podOf('successor'), 'proved')).toBe(false);
  });

  test('H6: a dead pod that wakes between two batches of the sweep changes nothing', async () => {
    const pod = await scene.pod('alder');
    const claims = [];
    for (let index = 0; index < 5; index++) claims.push(await scene.claimNew(pod));
    await scene.pass(20_000);
    expect(await scene.store.fence(pod, podOf('sweeper'), SILENT)).toBe(true);
    expect(await scene.store.take({ ...taking, from: pod, countMax: 2 })).toHaveLength(2);
    expect(await beat('alder', 0)).toMatchObject({ kind: 'refused', status: 'dead' });
    expect(await scene.claim(pod)).toEqual([]);
    const settled = await scene.store.settle(
      pod,
      claims.map((claim) => completed(claim)),
    );
    expect(settled.map(({ kind }) => kind)).toEqual(Array(5).fill('lost'));
    expect(await scene.store.retire(pod)).toBe(false);
    // Whoever sweeps next goes on where this one stopped.
    expect((await scene.rival.worklist(15_000)).dead).toMatchObject([{ pod }]);
    expect(await scene.rival.take({ ...taking, from: pod, countMax: 10 })).toHaveLength(3);
    expect(await scene.rival.take({ ...taking, from: pod, countMax: 10 })).toEqual([]);
    expect(await scene.rival.retire(pod)).toBe(true);
    expect((await scene.store.worklist(15_000)).dead).toEqual([]);
  });

  test('a pod is down only when it is dead and nothing is claimed by it', async () => {
    const pod = await scene.pod('alder');
    await scene.claimNew(pod);
    expect(await scene.store.retire(pod)).toBe(false);
    await scene.kill(pod);
    expect(await scene.store.retire(pod)).toBe(false);
    await scene.store.take({ ...taking, from: pod, countMax: 10 });
    expect(await scene.store.retire(pod)).toBe(true);
    expect(await scene.rival.retire(pod)).toBe(true);
    expect(await scene.store.fence(pod, podOf('sweeper'), 'proved')).toBe(false);
    expect(await scene.store.retire(podOf('nobody'))).toBe(false);
  });

  test('requeued tasks become due within the spread, and not before', async () => {
    const pod = await scene.pod('alder');
    const claims = [];
    for (let index = 0; index < 12; index++) claims.push(await scene.claimNew(pod));
    await scene.kill(pod);
    await scene.store.take({ ...taking, from: pod, countMax: 50, spreadMs: HOUR });
    const waits = [];
    for (const { task } of claims) {
      const { runAt, updatedAt } = await scene.row(task);
      waits.push(runAt - updatedAt);
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(-1_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(HOUR + 1_000);
    expect(new Set(waits).size).toBeGreaterThan(6);
    await scene.pass(HOUR + MINUTE);
    expect(await scene.claim(await scene.pod('birch'))).toHaveLength(12);
  });
}

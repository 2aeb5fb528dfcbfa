/** Registering, beating, draining: what a pod writes of itself and sees of the others. */
import { expect, test } from 'vitest';
import { StoreRefusedError } from '../../src/store/errors.ts';
import type { Beat, BeatAnswer, PodBirth } from '../../src/store/pods.ts';
import type { PodId } from '../../src/store/words.ts';
import { cancelTask } from './acts.ts';
import { claimOf, completed, MINUTE } from './factories.ts';
import { birthOf, podOf, type Scene } from './harness.ts';

export function describePods(scene: Scene): void {
  const beat = (pod: PodId, seq: number, options: Partial<Beat> = {}) =>
    scene.store.beat({ pod, seq, nonce: `${pod}-${seq}`, lsn: 0, report: {}, ...options });

  test('the schema that the tables have is the one that is wanted', async () => {
    await expect(scene.store.checkSchema()).resolves.toBeUndefined();
  });

  test('a pod that registers is up, with everything it said of itself', async () => {
    const routes = ['sample/one@1', 'sample/two@3'];
    const report = { capacity: 7, nested: { text: 'ümlaut' } };
    await scene.pod('alder', { boot: 4, lsn: 12, routes, report });
    const [row] = await scene.store.pods();
    expect(row).toMatchObject({
      pod: podOf('alder'),
      name: 'alder',
      journal: 'journal-alder',
      status: 'up',
      seq: 0,
      boot: 4,
      lsn: 12,
      routes,
      report,
      claimCount: 0,
    });
    expect([row?.desired, row?.deadBy, row?.deadAt]).toEqual([undefined, undefined, undefined]);
    expect(Math.abs(row!.bornAt - scene.harness.now())).toBeLessThan(MINUTE);
    expect(row!.silentMs).toBeLessThan(MINUTE);
  });

  test('a journal that nobody has seen has no past', async () => {
    const seen = await scene.store.register(birthOf('alder'));
    expect(seen).toEqual({ boot: 0, lsn: 0, pods: [] });
  });

  test('a pod may register again when the answer was lost', async () => {
    await scene.store.register(birthOf('alder'));
    await beat(podOf('alder'), 0);
    expect(await scene.store.register(birthOf('alder'))).toEqual({ boot: 0, lsn: 0, pods: [] });
    expect(await scene.store.pods()).toMatchObject([{ status: 'up', seq: 1 }]);
  });

  test('a pod that has lived before does not register again: nobody begins a life twice', async () => {
    const again = (name: string, more: Partial<PodBirth> = {}) =>
      scene.store.register({ ...birthOf(name), ...more });
    for (const name of ['alder', 'birch', 'cedar']) await scene.pod(name);
    await scene.store.markDraining(podOf('alder'));
    await expect(again('alder')).rejects.toThrow(StoreRefusedError);
    await scene.kill(podOf('birch'));
    await expect(again('birch')).rejects.toThrow(StoreRefusedError);
    await expect(again('cedar', { journal: 'another' })).rejects.toThrow(StoreRefusedError);
    await expect(again('cedar', { boot: 2 })).rejects.toThrow(StoreRefusedError);
    const statuses = (await scene.store.pods()).map(({ status }) => status);
    expect(statuses).toEqual(['draining', 'dead', 'up']);
  });

  test('H17: registering says how far the journal had come, so that an older copy is noticed', async () => {
    const journal = 'journal-shared';
    const first = await scene.pod('alder', { journal, boot: 7, lsn: 100 });
    const second = await scene.pod('birch', { journal, boot: 8, lsn: 150 });
    await beat(second, 0, { lsn: 230 });
    await scene.kill(first);
    expect(await scene.store.retire(first)).toBe(true);
    await scene.kill(second);
    const seen = await scene.store.register({ ...birthOf('cedar'), journal, boot: 8, lsn: 120 });
    expect(seen).toEqual({ boot: 8, lsn: 230, pods: [{ pod: second, status: 'dead' }] });
    await scene.store.retire(second);
    const later = await scene.store.register({ ...birthOf('dogwood'), journal, boot: 9, lsn: 240 });
    expect(later).toEqual({ boot: 8, lsn: 230, pods: [{ pod: podOf('cedar'), status: 'up' }] });
  });

  test('a heartbeat is taken, counts on, and shows the whole fleet, the oldest first', async () => {
    const birch = await scene.pod('birch');
    await scene.pass(10_000);
    const alder = await scene.pod('alder');
    await scene.pass(5_000);
    const answer = taken(await beat(alder, 0, { lsn: 33, report: { load: 1 } }));
    expect(answer).toMatchObject({ seq: 1, status: 'up', claimCount: 0, controls: [] });
    expect(answer.desired).toBeUndefined();
    expect(answer.fleet.map(({ pod, seq, status }) => [pod, seq, status])).toEqual([
      [birch, 0, 'up'],
      [alder, 1, 'up'],
    ]);
    expect(answer.fleet[0]!.silentMs).toBeGreaterThanOrEqual(15_000);
    expect(answer.fleet[0]!.silentMs).toBeLessThan(15_000 + MINUTE);
    expect(answer.fleet[1]!.silentMs).toBeLessThan(5_000);
    const row = (await scene.store.pods()).find(({ pod }) => pod === alder);
    expect(row).toMatchObject({ seq: 1, lsn: 33, report: { load: 1 } });
    expect(taken(await beat(alder, 1)).seq).toBe(2);
  });

  test('the timeline stays as it is while the store does', async () => {
    const pod = await scene.pod('alder');
    const first = taken(await beat(pod, 0)).timeline;
    expect(typeof first).toBe('string');
    expect(taken(await beat(pod, 1)).timeline).toBe(first);
  });

  test('the fleet shows dead pods with their slayer, and not those that are down', async () => {
    const alder = await scene.pod('alder');
    const birch = await scene.pod('birch');
    const cedar = await scene.pod('cedar');
    await scene.kill(birch, alder);
    await scene.kill(cedar, cedar);
    await scene.store.retire(cedar);
    const { fleet } = taken(await beat(alder, 0));
    expect(fleet).toMatchObject([
      { pod: alder, status: 'up' },
      { pod: birch, status: 'dead', deadBy: alder },
    ]);
    const statuses = (await scene.store.pods()).map(({ status }) => status);
    expect(statuses.sort()).toEqual(['dead', 'down', 'up']);
  });

  const times = { heartbeatMs: MINUTE, silentMs: 3 * MINUTE };
  const turnMs = times.heartbeatMs + times.silentMs;

  /** Seven pods, each younger than the one before. */
  async function sevenPods() {
    const seqs = new Map<PodId, number>();
    const pods: PodId[] = [];
    for (const name of ['alder', 'birch', 'cedar', 'dogwood', 'elm', 'fir', 'gorse']) {
      pods.push(await scene.pod(name));
      await scene.pass(1_000);
    }
    const beatOnce = async (pod: PodId, report: Beat['report'] = {}) => {
      const answer = taken(await beat(pod, seqs.get(pod) ?? 0, { times, report }));
      seqs.set(pod, answer.seq);
      return answer;
    };
    /** Which of these pods see the whole fleet, once all of them have beaten. */
    const lookouts = async (beating: readonly PodId[]) => {
      for (const pod of beating) await beatOnce(pod);
      const seen: PodId[] = [];
      for (const pod of beating) if ((await beatOnce(pod)).seesAll) seen.push(pod);
      return seen;
    };
    return { pods, beatOnce, lookouts };
  }

  test('the first three pods see the whole fleet, the others their leader and themselves', async () => {
    const { pods, beatOnce, lookouts } = await sevenPods();
    expect(await lookouts(pods)).toEqual(pods.slice(0, 3));
    const answers = [];
    for (const pod of pods) answers.push(await beatOnce(pod));
    const shown = answers.map(({ fleet }) => fleet.map(({ pod }) => pod));
    for (const all of shown.slice(0, 3)) expect(all).toEqual(pods);
    for (const [at, few] of shown.entries()) if (at >= 3) expect(few).toEqual([pods[0], pods[at]]);
    const [headcount, ...rest] = answers.map((answer) => answer.headcount);
    expect(headcount).toMatchObject({ up: 7, heard: 7 });
    for (const other of rest) expect(other).toEqual(headcount);
  });

  test('a pod that stalls or falls silent is out of the order: the fourth sees the whole fleet', async () => {
    const { pods, beatOnce, lookouts } = await sevenPods();
    await lookouts(pods);
    await beatOnce(pods[0]!, { stalled: 'no space' });
    const fourth = await beatOnce(pods[3]!);
    expect(fourth).toMatchObject({ seesAll: true });
    expect(fourth.fleet[0]).toMatchObject({ pod: pods[0], isStalled: true });
    const fifth = await beatOnce(pods[4]!);
    expect(
      fifth.fleet.map(({ pod }) => pod),
      'it leads no more',
    ).toEqual([pods[1], pods[4]]);
    const stalled = await beatOnce(pods[0]!, { stalled: 'no space' });
    expect(stalled.seesAll, 'it sweeps nothing').toBe(false);
    expect(await lookouts(pods)).toEqual(pods.slice(0, 3));
    await scene.pass(times.silentMs + MINUTE);
    const left = pods.slice(3);
    expect(await lookouts(left), 'all of the first three are gone').toEqual(left.slice(0, 4));
  });

  test('I26: what the first three leave overdue the next pods see, one more each turn', async () => {
    const { pods, lookouts } = await sevenPods();
    await lookouts(pods);
    await scene.pod('hazel');
    expect(await lookouts(pods)).toEqual(pods.slice(0, 3));
    await scene.pass(times.silentMs + MINUTE);
    expect(await lookouts(pods)).toEqual(pods.slice(0, 4));
    await scene.pass(turnMs);
    expect(await lookouts(pods)).toEqual(pods.slice(0, 5));
    await scene.kill(podOf('hazel'));
    expect(await lookouts(pods), 'it is to be swept since now').toEqual(pods.slice(0, 4));
    await scene.pass(2 * turnMs);
    expect(await lookouts(pods)).toEqual(pods.slice(0, 6));
    await scene.store.retire(podOf('hazel'));
    expect(await lookouts(pods)).toEqual(pods.slice(0, 3));
  });

  test('every pod sees the other lives of its journal', async () => {
    const { pods, lookouts } = await sevenPods();
    const twin = await scene.pod('hazel', { journal: 'journal-gorse', boot: 2 });
    await lookouts(pods);
    const answer = taken(await beat(twin, 0, { times }));
    expect(answer.seesAll).toBe(false);
    expect(answer.fleet.map(({ pod }) => pod)).toEqual([pods[0], pods[6], twin]);
  });

  test('a heartbeat counts the pods that are up, and those that were heard of lately', async () => {
    const { pods, beatOnce } = await sevenPods();
    const gorse = pods[6]!;
    const first = (await beatOnce(gorse)).headcount;
    await scene.pass(4 * times.heartbeatMs);
    expect((await beatOnce(gorse)).headcount).toEqual(first);
    for (const pod of pods.slice(0, 2)) await beatOnce(pod);
    await scene.pass(2 * times.heartbeatMs);
    expect((await beatOnce(gorse)).headcount).toEqual({ ...first, heard: 3 });
    await scene.store.markDraining(pods[0]!);
    const fewer = (await beatOnce(gorse)).headcount;
    expect(fewer).toMatchObject({ up: 6, heard: 2 });
    await scene.pod('hazel');
    const other = (await beatOnce(gorse)).headcount;
    expect(other).toMatchObject({ up: 7, heard: 3 });
    expect(new Set([first.mark, fewer.mark, other.mark]).size).toBe(3);
  });

  test('H18: of two clones of one pod the second to beat is refused, and sees another nonce', async () => {
    const pod = await scene.pod('alder');
    taken(await beat(pod, 0, { nonce: 'original' }));
    const refused = await scene.rival.beat({ pod, seq: 0, nonce: 'clone', lsn: 9, report: {} });
    expect(refused).toEqual({ kind: 'refused', status: 'up', seq: 1, nonce: 'original' });
    expect(await scene.store.pods()).toMatchObject([{ seq: 1, lsn: 0 }]);
  });

  test('H18: a heartbeat whose answer was lost is told from a clone by its own nonce', async () => {
    const pod = await scene.pod('alder');
    await beat(pod, 0, { nonce: 'mine' });
    const again = await beat(pod, 0, { nonce: 'mine' });
    expect(again).toEqual({ kind: 'refused', status: 'up', seq: 1, nonce: 'mine' });
  });

  test('H18: whoever has come to the same number is told by its name', async () => {
    const pod = await scene.pod('alder');
    taken(await beat(pod, 0, { nonce: 'clone', since: ['nonce-of-alder'] }));
    const other = await beat(pod, 1, { nonce: 'next', since: ['original', 'unheard'] });
    expect(other).toEqual({ kind: 'refused', status: 'up', seq: 1, nonce: 'clone' });
    taken(await beat(pod, 1, { nonce: 'next', since: ['unheard', 'clone'] }));
  });

  test('a dead pod, and one that is not known, cannot beat', async () => {
    const pod = await scene.pod('alder');
    await scene.kill(pod);
    const nonce = 'nonce-of-alder';
    expect(await beat(pod, 0)).toEqual({ kind: 'refused', status: 'dead', seq: 0, nonce });
    await scene.store.retire(pod);
    expect(await beat(pod, 0)).toMatchObject({ kind: 'refused', status: 'down' });
    const unknown = await beat(podOf('nobody'), 0);
    expect(unknown).toMatchObject({ kind: 'refused' });
    expect(unknown).not.toHaveProperty('status', expect.anything());
  });

  test('a heartbeat says how many tasks the pod holds, and what is asked of them until they end', async () => {
    const pod = await scene.pod('alder');
    const claim = await scene.claimNew(pod);
    await scene.claimNew(pod);
    expect(taken(await beat(pod, 0))).toMatchObject({ claimCount: 2, controls: [] });
    expect(await cancelTask(scene.store, claim.task, 'not wanted')).toBe('requested');
    const asked = { ...claimOf(claim), control: 'cancel', reason: 'not wanted' };
    for (const seq of [1, 2]) {
      expect(taken(await beat(pod, seq))).toMatchObject({ claimCount: 2, controls: [asked] });
    }
    await scene.store.settle(pod, [completed(claim)]);
    expect(taken(await beat(pod, 3))).toMatchObject({ claimCount: 1, controls: [] });
  });

  test('a pod is asked to drain by its next heartbeat, drains once, and cannot go back', async () => {
    const pod = await scene.pod('alder');
    expect(await scene.store.requestDrain(pod)).toBe(true);
    expect(taken(await beat(pod, 0))).toMatchObject({ status: 'up', desired: 'drain' });
    expect(await scene.store.markDraining(pod)).toBe(true);
    expect(await scene.store.markDraining(pod)).toBe(false);
    expect(taken(await beat(pod, 1))).toMatchObject({
      status: 'draining',
      fleet: [{ pod, status: 'draining', seq: 2 }],
    });
    expect(await scene.store.requestDrain(pod)).toBe(false);
    await scene.kill(pod, pod);
    expect(await scene.store.markDraining(pod)).toBe(false);
    expect(await scene.store.requestDrain(podOf('nobody'))).toBe(false);
  });

  test('a route keeps the fingerprint it was announced with first', async () => {
    expect(await scene.store.announce([])).toEqual([]);
    const first = { route: 'sample/one@1', fingerprint: 'first', shape: '["one"]' };
    expect(await scene.store.announce([first])).toEqual([]);
    expect(await scene.store.announce([first])).toEqual([]);
    const others = [
      { route: 'sample/two@12', fingerprint: 'other', shape: '["two"]' },
      { route: 'sample/one@1', fingerprint: 'second', shape: '["uno"]' },
    ];
    expect(await scene.rival.announce(others)).toEqual([first]);
    const rows = await scene.harness.rows('machine_registry');
    const known = rows.map((row) => [row['route'], row['machine'], row['fingerprint']]).sort();
    expect(known).toEqual([
      ['sample/one@1', 'sample/one', 'first'],
      ['sample/two@12', 'sample/two', 'other'],
    ]);
  });
}

function taken(answer: BeatAnswer): Extract<BeatAnswer, { kind: 'taken' }> {
  expect(answer).toMatchObject({ kind: 'taken' });
  return answer as Extract<BeatAnswer, { kind: 'taken' }>;
}

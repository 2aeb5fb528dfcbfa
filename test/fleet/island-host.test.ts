/** Two processes of one host, under one name, each with its own data directory, that the store does not answer. */
import { expect, test } from 'vitest';
import { defineMachine } from '../../src/index.ts';
import { gate } from '../support/fleets.ts';
import { Script } from './script.ts';
import { anyInput, SILENT_MS, useTestFleets } from './support.ts';

const { startFleet, newDir } = useTestFleets();
const HOST = 'host';
const LOCAL_COUNT = 5;

/** One process, of a machine that only it has, so that it is known whose runs are whose. */
function processOf(name: string) {
  const script = new Script();
  const { check, work } = script.phases;
  const machine = defineMachine({
    name,
    version: 1,
    input: anyInput,
    steps: (line) => line.step('a', { check, work }).step('b', { check, work }),
  });
  return { script, machine, options: { machines: [machine], around: script.around } };
}

/** Both have a claimed run in hand when the store goes, and start runs of their own without it. */
async function playOutage() {
  const fleet = startFleet();
  const members = [];
  for (const name of ['rover/one', 'rover/two']) {
    const member = processOf(name);
    const pod = await fleet.startPod(HOST, { ...member.options, dataDir: newDir() });
    const held = gate();
    member.script.holds.set('a.work', held.opened);
    const { id: claimed } = await pod.fleet.enqueue(member.machine, {});
    await fleet.clock.advance(1_000);
    expect(member.script.count('a.work')).toBe(1);
    members.push({ ...member, pod, held, claimed });
  }
  for (const { pod } of members) pod.wire.isCut = true;
  await fleet.clock.advance(2 * SILENT_MS);
  const played = [];
  for (const member of members) {
    const { pod, script, machine, held } = member;
    script.holds.clear();
    const starts = Array.from({ length: LOCAL_COUNT }, () => pod.fleet.startLocal(machine, {}));
    const local = (await Promise.all(starts)).map(({ id }) => id);
    played.push({ ...member, local, held });
  }
  await fleet.clock.advance(5_000);
  for (const { script } of played) expect(script.count('b.work')).toBe(LOCAL_COUNT);
  return { ...fleet, members: played };
}

type Played = Awaited<ReturnType<typeof playOutage>>;

async function judge({ row, store, members }: Played, claims: readonly number[]): Promise<void> {
  for (const [index, { claimed, local, machine }] of members.entries()) {
    expect(await row(claimed)).toMatchObject({ status: 'completed', claims: claims[index] });
    for (const id of local) expect(await row(id)).toMatchObject({ status: 'completed' });
    const own = await store.list({ machine: machine.name, countMax: 50 });
    expect(own.map(({ id }) => id).sort()).toEqual([claimed, ...local].sort());
  }
  expect(await store.violations()).toEqual([]);
}

test('both of two processes of one host come back with what they have, though they have one name', async () => {
  const played = await playOutage();
  for (const { held, pod } of played.members) {
    held.open();
    pod.wire.isCut = false;
  }
  await played.clock.advance(15_000);
  await judge(played, [1, 1]);
  // Nothing was done again: each went on with its own.
  for (const { script } of played.members) expect(script.count('a.work')).toBe(LOCAL_COUNT + 1);
});

test('one that died without the store comes back on its own disk, and takes nothing from its neighbour', async () => {
  const played = await playOutage();
  const [one, two] = [played.members[0]!, played.members[1]!];
  const image = one.pod.crash();
  two.held.open();
  two.pod.wire.isCut = false;
  await played.startPod(HOST, { ...one.options, dataDir: image });
  await played.clock.advance(20_000);
  await judge(played, [(await played.row(one.claimed)).claims, 1]);
  expect(two.script.count('a.work')).toBe(LOCAL_COUNT + 1);
  // It was inside that phase when it died: once again is what it may cost.
  expect(one.script.count('a.work')).toBeLessThanOrEqual(LOCAL_COUNT + 2);
  expect(one.script.count('b.work')).toBe(LOCAL_COUNT + 1);
});

test('both die without the store, and come back in the other order: each on its own disk has its own', async () => {
  const played = await playOutage();
  const images = played.members.map(({ pod }) => pod.crash());
  for (const index of [1, 0]) {
    const { options } = played.members[index]!;
    await played.startPod(HOST, { ...options, dataDir: images[index]! });
  }
  await played.clock.advance(20_000);
  const claims = [];
  for (const { claimed } of played.members) claims.push((await played.row(claimed)).claims);
  await judge(played, claims);
  for (const { script } of played.members) {
    expect(script.count('a.work')).toBeLessThanOrEqual(LOCAL_COUNT + 2);
    expect(script.count('b.work')).toBe(LOCAL_COUNT + 1);
  }
});

/** The heartbeat: what is sent, what its answers are taken for, and what a clone cannot do. */
import { expect, test } from 'vitest';
import { BeatLoop, type Heard } from '../../src/fleet/beat-loop.ts';
import { deadlineOf, inlineHeart } from '../../src/fleet/heart.ts';
import { MemoryStore, MemoryTables } from '../../src/store/index.ts';
import { birthOf, podOf } from '../store/harness.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Wire } from './support.ts';

const HEARTBEAT_MS = 1_000;
const SILENT_MS = 5_000;
const POD = podOf('alder');

async function newScene() {
  const clock = new FakeClock();
  const tables = new MemoryTables({ clock, random: seededRandom(1) });
  const store = new MemoryStore(tables);
  await store.register(birthOf('alder'));
  let minted = 0;
  const startLoop = (wire = new Wire(), isAlive = () => true) => {
    const heard: Heard[] = [];
    const failures: unknown[] = [];
    const loop = new BeatLoop({
      store: new MemoryStore(tables, { way: wire.way }),
      clock,
      pod: POD,
      heartbeatMs: HEARTBEAT_MS,
      silentMs: SILENT_MS,
      nonce: 'nonce-of-alder',
      mintNonce: () => `beat ${++minted}`,
      news: () => ({ lsn: 1, report: {} }),
      isAlive,
      onHeard: (one) => heard.push(one),
      onFailed: (error) => failures.push(error),
    });
    loop.start();
    return { loop, wire, heard, failures };
  };
  const seq = async () => (await store.pods())[0]!.seq;
  return { clock, tables, store, startLoop, seq };
}

const kindsOf = (heard: readonly Heard[]) => heard.map(({ answer }) => answer.kind);

test('it beats at once and then once a heartbeat, each time with the next number', async () => {
  const { clock, startLoop, seq } = await newScene();
  const { heard } = startLoop();
  await clock.advance(0);
  expect(await seq()).toBe(1);
  await clock.advance(3_000);
  expect(await seq()).toBe(4);
  expect(kindsOf(heard)).toEqual(['taken', 'taken', 'taken', 'taken']);
});

test('a lost answer is told from a clone by its nonce, and extends nothing', async () => {
  const { clock, startLoop, seq } = await newScene();
  const { wire, heard, failures } = startLoop();
  await clock.advance(0);
  wire.losesAnswers.set('beat', 1);
  await clock.advance(HEARTBEAT_MS);
  expect(failures).toHaveLength(1);
  expect(await seq()).toBe(2);
  await clock.advance(HEARTBEAT_MS);
  expect(kindsOf(heard).every((kind) => kind === 'taken')).toBe(true);
  // The beat that was heard was sent after the one whose answer was lost.
  expect(heard.at(-1)!.sentMs).toBeGreaterThan(HEARTBEAT_MS);
  expect(await seq()).toBeGreaterThanOrEqual(3);
});

test('a row that has gone back to a beat whose answer was lost is still its own', async () => {
  const { clock, tables, startLoop } = await newScene();
  const { wire, heard } = startLoop();
  await clock.advance(0);
  wire.losesAnswers.set('beat', 1);
  await clock.advance(HEARTBEAT_MS);
  const { beatSeq, beatNonce } = tables.pods.get(POD)!;
  await clock.advance(3 * HEARTBEAT_MS);
  expect(tables.pods.get(POD)!.beatSeq).toBeGreaterThan(beatSeq);
  Object.assign(tables.pods.get(POD)!, { beatSeq, beatNonce });
  await clock.advance(3 * HEARTBEAT_MS);
  expect(kindsOf(heard)).not.toContain('refused');
  expect(tables.pods.get(POD)!.beatSeq).toBeGreaterThan(beatSeq + 1);
});

test('however many answers are lost after it, an own beat stays an own beat', async () => {
  const { clock, startLoop } = await newScene();
  const { wire, heard } = startLoop();
  await clock.advance(0);
  wire.losesAnswers.set('beat', 1);
  await clock.advance(HEARTBEAT_MS);
  wire.isCut = true;
  await clock.advance(120_000);
  expect(wire.asked.length).toBeGreaterThan(200);
  wire.isCut = false;
  await clock.advance(HEARTBEAT_MS);
  expect(kindsOf(heard)).not.toContain('refused');
  expect(heard.length).toBeGreaterThan(1);
});

test('H18: of two processes that beat in one name, one is found out within a heartbeat', async () => {
  const { clock, startLoop } = await newScene();
  const original = startLoop();
  await clock.advance(HEARTBEAT_MS * 2);
  // A clone of the memory: it knows the same number, and nothing that is decided later.
  const clone = startLoop();
  await clock.advance(0);
  const refused = [...original.heard, ...clone.heard].filter(
    ({ answer }) => answer.kind === 'refused',
  );
  expect(refused).toHaveLength(1);
  expect(kindsOf(clone.heard)).toEqual(['refused']);
  const before = original.heard.length;
  await clock.advance(5 * HEARTBEAT_MS);
  expect(kindsOf(clone.heard), 'it beats no more').toEqual(['refused']);
  expect(original.heard.length).toBe(before + 5);
});

test('a pod that was declared dead is told so and stops', async () => {
  const { clock, store, startLoop } = await newScene();
  const { heard, wire } = startLoop();
  await clock.advance(0);
  await store.fence(POD, podOf('sweeper'), 'proved');
  await clock.advance(HEARTBEAT_MS);
  expect(heard.at(-1)!.answer).toMatchObject({ kind: 'refused', status: 'dead' });
  const asked = wire.asked.length;
  await clock.advance(10 * HEARTBEAT_MS);
  expect(wire.asked.length).toBe(asked);
});

test('a process that makes no progress does not beat, and does again when it does', async () => {
  const { clock, startLoop, seq } = await newScene();
  let isAlive = true;
  startLoop(new Wire(), () => isAlive);
  await clock.advance(0);
  isAlive = false;
  await clock.advance(5 * HEARTBEAT_MS);
  expect(await seq()).toBe(1);
  isAlive = true;
  await clock.advance(HEARTBEAT_MS);
  expect(await seq()).toBe(2);
});

test('failures are followed by another try after a third of a heartbeat', async () => {
  const { clock, startLoop } = await newScene();
  const { wire } = startLoop();
  await clock.advance(0);
  wire.isCut = true;
  await clock.advance(HEARTBEAT_MS * 3);
  expect(wire.asked.length).toBeGreaterThanOrEqual(7);
});

test('a stopped one says nothing more, even of an answer that is on its way', async () => {
  const { clock, startLoop } = await newScene();
  const { loop, wire, heard } = startLoop();
  let answer!: () => void;
  wire.holdsAnswers.set('beat', new Promise<void>((resolve) => (answer = resolve)));
  await clock.advance(0);
  const stopped = loop.stop();
  answer();
  await stopped;
  await clock.advance(10_000);
  expect(heard).toEqual([]);
});

test('I10: the deadline counts from when the beat was sent, and ends one heartbeat early', async () => {
  const { clock, store } = await newScene();
  const wire = new Wire();
  const options = {
    pod: POD,
    nonce: 'nonce-of-alder',
    heartbeatMs: HEARTBEAT_MS,
    silentMs: 5_000,
    clock,
    mintNonce: () => 'x',
    news: () => ({ lsn: 0, report: {} }),
    onHeard: () => undefined,
    onFailed: () => undefined,
  };
  let answer!: () => void;
  wire.holdsAnswers.set('beat', new Promise<void>((resolve) => (answer = resolve)));
  const heart = inlineHeart({
    beat: (beat) => wire.way('beat', () => undefined).then(() => store.beat(beat)),
  })(options);
  heart.start();
  await clock.advance(700);
  expect(heart.deadlineMs).toBe(Number.NEGATIVE_INFINITY);
  answer();
  await clock.settle();
  expect(heart.deadlineMs).toBe(deadlineOf(0, options));
  expect(heart.deadlineMs).toBe(4_000);
  await heart.stop();
});

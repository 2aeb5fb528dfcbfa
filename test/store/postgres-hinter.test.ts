/** When a notification goes out, how many of them, and which pods it names. */
import { expect, test } from 'vitest';
import { Hinter, notify } from '../../src/store/postgres/hinter.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

function newScene(pods: readonly string[] = []) {
  const clock = new FakeClock();
  const sent: { readonly words: string; readonly atMs: number }[] = [];
  const scene = { clock, sent, asked: 0, pods, error: undefined as Error | undefined };
  const query = async (text: string, values: readonly unknown[] = []) => {
    if (text === notify) {
      sent.push({ words: values[0] as string, atMs: clock.monotonicMs() });
      return [];
    }
    scene.asked++;
    if (scene.error) throw scene.error;
    return scene.pods.length > 0 ? [{ routes: ['x@1'], pods: [...scene.pods] }] : [];
  };
  return { ...scene, scene, hinter: new Hinter({ query, often: query }, clock, seededRandom(3)) };
}

const one = { count: 1, routes: ['x@1'] };
const PODS = Array.from({ length: 20 }, (_, n) => `p${n}`);

test('a trickle is notified at once, however unevenly it comes', async () => {
  const { clock, sent, hinter } = newScene();
  const saidMs: number[] = [];
  for (const pauseMs of [0, 1, 30, 2, 40, 5, 35, 0, 50, 20]) {
    await clock.advance(pauseMs);
    saidMs.push(clock.monotonicMs());
    hinter.hint('ready', one);
  }
  expect(sent.map(({ atMs }) => atMs)).toEqual(saidMs);
});

test('under load one notification of a kind goes out in 20 ms, and the last is not lost', async () => {
  const { clock, sent, hinter } = newScene();
  for (let n = 0; n < 1_000; n++) {
    hinter.hint('ready', one);
    await clock.advance(1);
  }
  expect(sent.length).toBeLessThanOrEqual(1_000 / 20 + 8);
  const before = sent.length;
  hinter.hint('ready', one);
  await clock.advance(20);
  expect(sent.length).toBe(before + 1);
  await clock.advance(1_000);
  expect(sent.length).toBe(before + 1);
});

test('within a second after any load the next notification goes out at once', async () => {
  const { clock, sent, hinter } = newScene();
  for (let n = 0; n < 5_000; n++) hinter.hint('ready', one);
  await clock.advance(1_000);
  const before = sent.length;
  hinter.hint('ready', one);
  expect(sent.length).toBe(before + 1);
});

test('what ends holds up nothing that is ready', async () => {
  const { sent, hinter } = newScene();
  for (let n = 0; n < 100; n++) hinter.hint('ended');
  hinter.hint('ready', one);
  expect(sent.at(-1)!.words).toBe('ready');
});

test('pods are named as soon as it is known which are up, and every pod looks before', async () => {
  const { clock, sent, hinter } = newScene(PODS);
  hinter.hint('ready', one);
  await clock.advance(1);
  hinter.hint('ready', one);
  hinter.hint('ended');
  expect(sent.map(({ words }) => words)).toEqual([
    'ready',
    expect.stringMatching(/^ready 1 p\d+ p\d+ p\d+$/),
    'ended',
  ]);
});

test('what was gathered calls as many pods as all of it needs', async () => {
  const { clock, sent, hinter } = newScene(PODS);
  hinter.hint('ready', one);
  await clock.advance(1_000);
  for (let n = 0; n < 8; n++) hinter.hint('ready', one);
  for (let n = 0; n < 9; n++) hinter.hint('ready', one);
  await clock.advance(100);
  expect(sent.at(-1)!.words).toMatch(/^ready 3( p\d+){5}$/);
});

test('which pods are up is asked for every two seconds at most, and only beside a notification', async () => {
  const { clock, scene, hinter } = newScene(PODS);
  await clock.advance(10_000);
  expect(scene.asked).toBe(0);
  for (let n = 0; n < 1_000; n++) {
    hinter.hint('ready', one);
    await clock.advance(10);
  }
  expect(scene.asked).toBe(6);
});

test('a list of pods that is older than ten seconds names none of them', async () => {
  const { clock, sent, scene, hinter } = newScene(PODS);
  hinter.hint('ready', one);
  await clock.advance(1);
  scene.error = new Error('not allowed');
  await clock.advance(9_000);
  hinter.hint('ready', one);
  await clock.advance(1_001);
  hinter.hint('ready', one);
  expect(sent.map(({ words }) => words.split(' ').length)).toEqual([1, 5, 1]);
});

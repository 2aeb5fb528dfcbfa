/** Calls that take longer: whether they wait in line there, or are other calls than before. */
import { expect, test } from 'vitest';
import { QueueWatch } from '../../src/throttle/estimate/queue-watch.ts';
import { bucketOf, type LatencyCounts } from '../../src/throttle/record/latencies.ts';

const BEAT_MS = 3_000;
const CAP = 50;

/** A watch that was told, beat by beat, of calls that took so long. */
function watched() {
  const watch = new QueueWatch();
  let nowMs = 0;
  const tell = (ms: number, beats = 1) => {
    for (let beat = 0; beat < beats; beat++) {
      nowMs += BEAT_MS;
      watch.noteLatencies([[bucketOf(ms), 200]] as LatencyCounts, nowMs);
      watch.noteAnswers(300, BEAT_MS, nowMs);
    }
  };
  return { watch, tell, fewer: () => watch.fewerThan(CAP, nowMs) };
}

test('what is normal does not become another just by lasting', () => {
  const { watch, tell } = watched();
  tell(500, 3);
  tell(620, 1_000);
  expect(watch.pressure).toBe('pause');
  tell(800, 2);
  expect(watch.pressure).toBe('cut');
});

test('fewer are tried soon where calls take far longer, and after a minute where a little', () => {
  const far = watched();
  far.tell(500, 3);
  far.tell(1_000, 2);
  // The line may still be forming.
  expect(far.fewer()).toBeUndefined();
  far.tell(1_000);
  // A hundred a second for half a second each and a little more would be all of them, which shows nothing.
  expect(far.fewer()).toEqual({ cap: 40, inLine: 40 });
  const little = watched();
  little.tell(500, 3);
  little.tell(620, 20);
  expect(little.fewer()).toBeUndefined();
  little.tell(620, 2);
  expect(little.fewer()).toEqual({ cap: 40, inLine: 46 });
});

test('who takes as long with fewer at once does not wait in line: that is normal from now on', () => {
  const { watch, tell } = watched();
  tell(500, 3);
  tell(1_000, 2);
  watch.begin(0.6);
  expect(watch.verdict).toBeUndefined();
  tell(1_000);
  expect(watch.verdict).toBe('slow');
  expect(watch.isTrying).toBe(false);
  tell(1_000, 2);
  expect(watch.pressure).toBe('none');
});

test('who takes less by as much as there are fewer did: what is normal stays', () => {
  const { watch, tell } = watched();
  tell(500, 3);
  tell(1_000, 2);
  watch.begin(0.6);
  // Of calls that were out before.
  tell(1_000);
  expect(watch.verdict).toBeUndefined();
  tell(600);
  expect(watch.verdict).toBe('line');
  tell(1_000, 2);
  expect(watch.pressure).toBe('cut');
});

test('the more latencies differ, the more of them are wanted', () => {
  const watch = new QueueWatch();
  const wide: LatencyCounts = [100, 500, 2_500].map((ms) => [bucketOf(ms), 40] as const);
  watch.noteLatencies(wide, 0);
  watch.begin(0.8);
  expect(watch.verdict).toBeUndefined();
  watch.noteLatencies(wide, BEAT_MS);
  watch.noteLatencies(wide, 2 * BEAT_MS);
  expect(watch.verdict).toBeUndefined();
  for (let beat = 3; beat < 12; beat++) watch.noteLatencies(wide, beat * BEAT_MS);
  expect(watch.verdict).toBeDefined();
});

test('of calls that differ much fewer are tried for a minute at most: what came by then is judged if it is clear', () => {
  const wide = (ms: number, count: number): LatencyCounts =>
    [0.4, 1, 2.5].map((part) => [bucketOf(ms * part), count] as const);
  // So many calls of each kind come back in a heartbeat, once there are fewer at once.
  const tried = (ms: number, count: number) => {
    const watch = new QueueWatch();
    let nowMs = 0;
    const tell = (counts: LatencyCounts) => {
      nowMs += BEAT_MS;
      watch.noteLatencies(counts, nowMs);
    };
    for (let beat = 0; beat < 5; beat++) tell(wide(500, 200));
    for (let beat = 0; beat < 5; beat++) tell(wide(1_000, 200));
    watch.begin(0.5);
    let verdict = watch.verdict;
    let beats = 0;
    for (; verdict === undefined && beats < 100; beats++) {
      tell(wide(ms, count));
      verdict = watch.verdict;
    }
    return { verdict, forMs: beats * BEAT_MS };
  };
  expect(tried(1_000, 9)).toEqual({ verdict: 'slow', forMs: 24_000 });
  expect(tried(510, 9)).toEqual({ verdict: 'line', forMs: 24_000 });
  expect(tried(750, 9)).toEqual({ verdict: 'unsure', forMs: 45_000 });
  expect(tried(1_000, 0)).toEqual({ verdict: 'unsure', forMs: 45_000 });
});

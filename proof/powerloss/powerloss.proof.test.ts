/** The program of `npm run proof -- powerloss`, at a stride; and that it sees a disk that was not synced. */
import { expect, test } from 'vitest';
import { Disk } from './disk.ts';
import { losePower } from './lose-power.ts';
import { record } from './recording.ts';

test('a loss of power takes nothing that was acknowledged, and causes no alarm and no wrong state', () => {
  const faults: string[] = [];
  const onFault = (line: string) => faults.push(line);
  const report = losePower(record('FULL'), { stride: 13, onFault });
  expect(faults).toEqual([]);
  expect(report).toMatchObject({ violations: 0, alarmed: 0, lost: 0, wrong: 0, crashed: 0 });
  expect(report.acknowledged).toBeGreaterThan(40);
  expect(report.images).toBeGreaterThan(500);
});

test('without a sync at every commit the same losses are seen', () => {
  const report = losePower(record('NORMAL'), { stride: 19 });
  expect(report.lost).toBeGreaterThan(report.images / 20);
  expect(report.violations).toBe(report.lost + report.wrong + report.crashed);
});

test('without any sync damage is seen too', () => {
  const report = losePower(record('OFF'), { stride: 37 });
  expect(report.lost + report.wrong).toBeGreaterThan(report.images / 20);
  expect(report.alarmed).toBeGreaterThan(0);
});

test('of the disk that is played back, only what was synced is sure', () => {
  const disk = new Disk();
  const write = (at: number, text: string) =>
    disk.apply({ op: 'write', file: 'a', at, bytes: Buffer.from(text) });
  const nothing = { keeps: () => false, names: () => 0 };
  const everything = { keeps: () => true, names: (count: number) => count };
  const textOf = (fate: Parameters<Disk['image']>[0]) => disk.image(fate).get('a')?.toString();
  disk.apply({ op: 'create', file: 'a' });
  write(0, 'one');
  disk.apply({ op: 'sync', file: 'a' });
  // Its bytes are safe, its name is not.
  expect(textOf(nothing)).toBeUndefined();
  disk.apply({ op: 'syncNames' });
  expect(textOf(nothing)).toBe('one');
  write(3, 'x'.repeat(1_021));
  write(0, 'two');
  expect(textOf(nothing)).toBe('one');
  expect(textOf(everything)).toBe(`two${'x'.repeat(1_021)}`);
  const secondSector = { ...everything, keeps: () => (sector: number) => sector === 1 };
  expect(textOf(secondSector)).toBe(`one${'\0'.repeat(509)}${'x'.repeat(512)}`);
  expect(textOf({ ...nothing, isGrown: true })).toBe(`one${'\0'.repeat(1_021)}`);
  disk.apply({ op: 'rename', file: 'a', to: 'b' });
  expect([...disk.image(nothing).keys()]).toEqual(['a']);
  expect([...disk.image(everything).keys()]).toEqual(['b']);
});

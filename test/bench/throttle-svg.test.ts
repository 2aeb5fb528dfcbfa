/** Charts that the bench of throttles draws: as many points as values, and texts that stay texts. */
import { expect, test } from 'vitest';
import { barChart, lineChart } from '../../bench/throttle/svg.ts';

/** Every element that is opened is closed. */
function isWhole(svg: string): boolean {
  const open: string[] = [];
  for (const [, close, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (close) {
      if (open.pop() !== name) return false;
    } else if (!self) open.push(name!);
  }
  return open.length === 0;
}

test('a line has a point for each value, within the picture, and events where they were', () => {
  const values = [0, 50, 100, 75];
  const svg = lineChart({
    ...{ title: 'a <b> & "c"', about: 'of it', from: 100, unit: 'calls' },
    lines: [{ name: 'answered', color: '#000000', values }],
    marks: [{ at: 102, text: 'half' }],
  });
  expect(isWhole(svg)).toBe(true);
  expect(svg).not.toContain('<b>');
  const points = /points="([^"]+)"/
    .exec(svg)![1]!
    .split(' ')
    .map((point) => point.split(',').map(Number));
  expect(points).toHaveLength(values.length);
  for (const [x, y] of points) {
    expect(x).toBeGreaterThanOrEqual(56);
    expect(x).toBeLessThanOrEqual(844);
    expect(y).toBeGreaterThanOrEqual(62);
    expect(y).toBeLessThanOrEqual(266);
  }
  expect(points[2]![1]!, 'more is higher').toBeLessThan(points[1]![1]!);
  expect(svg).toContain(`x1="${points[2]![0]}" x2="${points[2]![0]}"`);
});

test('bars say what they are, and one of nothing is seen all the same', () => {
  const svg = barChart({
    ...{
      title: 'shares',
      about: 'of it',
      names: ['ours', 'theirs'],
      colors: ['#111111', '#222222'],
    },
    groups: [{ name: 'quota', values: [1, 0] }],
  });
  expect(isWhole(svg)).toBe(true);
  expect(svg).toContain('<title>ours, quota: 100 %</title>');
  const heights = [...svg.matchAll(/height="([\d.]+)" fill="#(?:111111|222222)"><title/g)];
  expect(heights.map(([, height]) => Number(height))).toEqual([204, 1]);
});

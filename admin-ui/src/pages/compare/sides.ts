/** Two runs, laid side by side. Pure. */
import type { RunRecord } from '../../services/types.ts';

export type Sides<T> = readonly [T, T];

/** The first record that does not say the same of both; undefined where all do. */
export function partedAt(a: readonly RunRecord[], b: readonly RunRecord[]): number | undefined {
  const most = Math.max(a.length, b.length);
  for (let seq = 0; seq < most; seq++) {
    if (a[seq]?.event.type !== b[seq]?.event.type || a[seq]?.state !== b[seq]?.state) return seq;
  }
  return undefined;
}

/** What is in either, in the order of the first; what only the other has, after what it comes after there. */
export function alignedOf(a: readonly string[], b: readonly string[]): readonly string[] {
  const all = [...a];
  b.forEach((name, index) => {
    if (all.includes(name)) return;
    const before = all.indexOf(b[index - 1] ?? '');
    all.splice(before + 1, 0, name);
  });
  return all;
}

/** What a hunt has come to, in figures and in lines. */
import type { Finding } from './hunt.ts';

export interface Summary {
  readonly planted: number;
  readonly caught: number;
  readonly missed: number;
  /** Those that prove nothing, for or against: they have to be mended. */
  readonly unusable: number;
  readonly medianSecondsToDetect: number;
  readonly slowestSeconds: number;
  readonly mutants: readonly Finding[];
}

export function summaryOf(findings: readonly Finding[]): Summary {
  const caught = findings.filter(({ verdict }) => verdict === 'caught');
  const missed = findings.filter(({ verdict }) => verdict === 'missed').length;
  const seconds = caught.map((finding) => finding.seconds).sort((one, other) => one - other);
  return {
    planted: findings.length,
    caught: caught.length,
    missed,
    unusable: findings.length - caught.length - missed,
    medianSecondsToDetect: medianOf(seconds),
    slowestSeconds: seconds.at(-1) ?? 0,
    mutants: findings,
  };
}

/** Of numbers in order; 0 where there are none. */
export function medianOf(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  if (!Number.isInteger(middle)) return sorted[Math.floor(middle)]!;
  const [low = 0, high = 0] = sorted.slice(middle - 1, middle + 1);
  return Math.round(((low + high) / 2) * 10) / 10;
}

export function linesOf({ mutants, ...figures }: Summary): string[] {
  const width = Math.max(0, ...mutants.map(({ name }) => name.length));
  const rows = mutants.map(
    ({ name, verdict, seconds, command }) =>
      `${name.padEnd(width)}  ${verdict.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s  ${command}`,
  );
  return [
    ...rows,
    ...Object.entries(figures).map(([name, value]) => `${name.padEnd(22)} ${value}`),
  ];
}

/** Machines as people think of them: by name, with the versions that are in flight. Pure. */
import type { Census, MachineRow, TimedRun } from '../../services/fleet-types.ts';

/** They look after the fleet, and come with it. */
export function isOwn(name: string): boolean {
  return /^(recovery|fleet)\//.test(name);
}

export interface MachineSum {
  readonly name: string;
  /** Newest first. */
  readonly versions: readonly MachineRow[];
  readonly pending: number;
  readonly waiting: number;
  readonly claimed: number;
  readonly blocked: number;
  readonly deadLetters: number;
  readonly oldestMs: number | undefined;
}

export function sumsOf(rows: readonly MachineRow[], census: Census | undefined): MachineSum[] {
  const names = [...new Set(rows.map(({ name }) => name))].sort();
  return names.map((name) => {
    const versions = rows.filter((row) => row.name === name);
    const sum = (of: 'pending' | 'waiting' | 'claimed' | 'blocked') =>
      versions.reduce((all, row) => all + (row[of] ?? 0), 0);
    const ages = (census?.routes ?? [])
      .filter(({ machine }) => machine === name)
      .flatMap(({ oldestMs }) => (oldestMs === undefined ? [] : [oldestMs]));
    return {
      name,
      versions,
      pending: sum('pending'),
      waiting: sum('waiting'),
      claimed: sum('claimed'),
      blocked: sum('blocked'),
      deadLetters: census?.deadLetters.find(({ machine }) => machine === name)?.count ?? 0,
      oldestMs: ages.length === 0 ? undefined : Math.max(...ages),
    };
  });
}

export interface PhaseStat {
  readonly phase: string;
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly most: number;
  readonly tries: number;
  readonly failures: number;
}

/** In the order of the line; what is on record and not on the line comes last. */
export function statsOf(runs: readonly TimedRun[], line: readonly string[]): PhaseStat[] {
  const byPhase = new Map<string, TimedRun['phases'][number][]>();
  for (const { phases } of runs) {
    for (const each of phases) byPhase.set(each.phase, [...(byPhase.get(each.phase) ?? []), each]);
  }
  const phases = [...line, ...[...byPhase.keys()].filter((phase) => !line.includes(phase))];
  return phases.map((phase) => {
    const found = byPhase.get(phase) ?? [];
    const times = found.map(({ ms }) => ms).sort((a, b) => a - b);
    const sum = (of: 'tries' | 'failures') => found.reduce((all, each) => all + each[of], 0);
    return {
      phase,
      count: times.length,
      p50: quantile(times, 0.5),
      p95: quantile(times, 0.95),
      most: times.at(-1) ?? 0,
      tries: sum('tries'),
      failures: sum('failures'),
    };
  });
}

/** Of what is sorted; nothing has none. */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return 0;
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** The phases of the newest version that tells them. */
export function lineOf(versions: readonly MachineRow[]): readonly string[] {
  const told = versions.find(({ transitions }) => (transitions?.length ?? 0) > 0);
  const states = (told?.transitions ?? []).map(({ step, phase }) => `${step}.${phase}`);
  return [...new Set(states)];
}

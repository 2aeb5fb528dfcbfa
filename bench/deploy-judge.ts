/** What the ledgers of a deploy tell: how long runs stood still, and what was done twice. */
import type { Phase } from './deploy-pods.ts';

export interface Left {
  readonly tasks: number;
  readonly repeated: number;
  readonly probed: number;
  readonly drainMs: readonly number[];
  readonly beyondPhaseMs: readonly number[];
  readonly longestPhaseMs: number;
  readonly resumedMs: readonly number[];
}

export interface Departure {
  readonly process: string;
  readonly askedAt: number;
  readonly goneAt: number;
}

export function judge(
  phases: readonly Phase[],
  departures: readonly Departure[],
  tasks: number,
): Left {
  const byRun = grouped(phases, ({ run }) => run);
  const asked = new Map(departures.map(({ process, askedAt }) => [process, askedAt]));
  const resumedMs: number[] = [];
  for (const calls of byRun.values()) {
    for (const [index, call] of calls.entries()) {
      const before = calls[index - 1];
      const askedAt = before && asked.get(before.process);
      if (!before || askedAt === undefined || before.process === call.process) continue;
      resumedMs.push(call.beginsAt - Math.max(askedAt, before.endsAt ?? before.beginsAt));
    }
  }
  const byProcess = grouped(phases, ({ process }) => process);
  const lastOf = (process: string) =>
    Math.max(0, ...(byProcess.get(process) ?? []).map(({ endsAt = 0 }) => endsAt));
  const lengths = phases.map(({ beginsAt, endsAt = beginsAt }) => endsAt - beginsAt);
  return {
    tasks,
    repeated: repeatsIn(phases),
    probed: phases.filter(({ place }) => place.endsWith('.probe')).length,
    drainMs: departures.map(({ askedAt, goneAt }) => goneAt - askedAt),
    beyondPhaseMs: departures.map(
      ({ process, askedAt, goneAt }) => goneAt - Math.max(askedAt, lastOf(process)),
    ),
    longestPhaseMs: Math.round(lengths.reduce((most, each) => Math.max(most, each), 0)),
    resumedMs,
  };
}

/** Of each run that both have had: a phase is on record a moment after it has ended. */
export function handoverTimes(phases: readonly Phase[], names: readonly string[]): number[] {
  const byProcess = grouped(phases, ({ process }) => process);
  return names.slice(1).flatMap((name, index) => {
    const before = byProcess.get(names[index]!) ?? [];
    const last = Math.max(...before.map(({ endsAt = 0 }) => endsAt));
    const had = new Set(before.map(({ run }) => run));
    const first = new Map<string, number>();
    for (const { run, endsAt } of byProcess.get(name) ?? []) {
      if (endsAt === undefined || !had.has(run)) continue;
      first.set(run, Math.min(first.get(run) ?? endsAt, endsAt));
    }
    return [...first.values()].map((at) => at - last);
  });
}

/** Calls of phases beyond the first of each; a probe asks `check` again on purpose, and is none. */
export function repeatsIn(phases: readonly Phase[]): number {
  const done = new Set<string>();
  let repeated = 0;
  for (const { run, place } of phases) {
    if (place.endsWith('.probe')) continue;
    const key = `${run} ${place}`;
    if (done.has(key)) repeated++;
    done.add(key);
  }
  return repeated;
}

function grouped(phases: readonly Phase[], by: (phase: Phase) => string): Map<string, Phase[]> {
  const groups = new Map<string, Phase[]>();
  for (const phase of phases) {
    const group = groups.get(by(phase));
    if (group) group.push(phase);
    else groups.set(by(phase), [phase]);
  }
  return groups;
}

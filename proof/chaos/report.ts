/** What a run has to say: its doses, what each rule found, and whether any of it counts. */

import { isUndecided } from '../history/checker.ts';
import type { RuleReport } from '../history/rule.ts';
import type { Reason } from '../history/rules-effects.ts';
import type { Faults } from './faults.ts';
import type { Judge } from './judge.ts';
import type { Doses, Fault } from './sizes.ts';
import type { Stage } from './stage.ts';
import type { StormCall } from './storm.ts';

export interface ChaosReport extends Doses {
  readonly tasks: number;
  /** All SIGKILLs of pods, of one or of all at once, with a drain before or without. */
  readonly sigkills: number;
  readonly disksLost: number;
  /** Of the store's crashes, how many were of each kind. */
  readonly crashKinds: Readonly<Record<string, number>>;
  /** How often each mode of the network has kept something back, or broken it. */
  readonly networkModes: Readonly<Record<string, number>>;
  /** What people asked, by what they were told. */
  readonly stormAnswers: Readonly<Record<string, number>>;
  /** How many faults of processes, disks, the store and its ways were at work at once. */
  readonly atOnceMax: number;
  readonly lost: number;
  readonly doubled: number;
  readonly zombieWrites: number;
  readonly stuck: number;
  readonly violations: number;
  /** Ended because their owners were killed three times over, as documented. */
  readonly crashLoops: number;
  /** Pods that ended by themselves, and nobody had foretold it. */
  readonly podDeaths: number;
  /** Processes that were still there at the end. */
  readonly leftBehind: number;
  /** `work` and `persist` that were done again as they may be, by what kept the first from counting. */
  readonly repeats: Readonly<Record<Reason, number>>;
  readonly effects: number;
  /** Tasks that changed hands, and were completed all the same. */
  readonly recovered: number;
  /** Times that a run went on under newer code than it was at. */
  readonly advanced: number;
  /** Every rule of the judge: what it looked at, what it found. */
  readonly rules: readonly RuleReport[];
  readonly seconds: number;
  readonly drainSeconds: number;
  readonly seed: number;
  /** Doses that were not reached; a run with any proves nothing. */
  readonly missed: readonly string[];
  readonly void: boolean;
  /** Faults that could not be had on this machine; with CI=true there are none. */
  readonly lacking: readonly string[];
  readonly examples: readonly string[];
  /** Where all there is of broken tasks is kept, a line for each. */
  readonly broken?: string | undefined;
}

const EXAMPLES_MAX = 60;

export function isGood(report: ChaosReport): boolean {
  const { lost, doubled, zombieWrites, stuck, violations, podDeaths, leftBehind } = report;
  const bad = lost + doubled + zombieWrites + stuck + violations + podDeaths + leftBehind;
  return !report.void && bad === 0;
}

export interface ReportParts {
  readonly tasks: number;
  readonly seed: number;
  readonly doses: Doses;
  readonly stage: Stage;
  readonly faults: Faults;
  readonly judge: Judge;
  readonly seconds: number;
  readonly drainSeconds: number;
}

export function reportOf(parts: ReportParts): Omit<ChaosReport, 'leftBehind'> {
  const { tasks, seed, stage, faults, judge, seconds, drainSeconds } = parts;
  const { lost, doubled, zombieWrites, stuck, violations, crashLoops } = judge;
  const { deaths } = stage;
  const missed = missedOf(parts);
  return {
    tasks,
    ...faults.counts,
    sigkills: faults.pods.sigkills,
    disksLost: faults.pods.disksLost,
    crashKinds: faults.store.counts,
    networkModes: Object.fromEntries(faults.network.counts),
    stormAnswers: answersOf(stage.storm.calls),
    atOnceMax: faults.atOnceMax,
    lost: lost.count,
    doubled: doubled.count,
    zombieWrites: zombieWrites.count,
    stuck: stuck.count,
    violations: violations.count,
    crashLoops: crashLoops.count,
    podDeaths: deaths.length,
    repeats: judge.repeats,
    effects: judge.effectCount,
    recovered: judge.recovered,
    advanced: judge.advanced,
    rules: judge.rules,
    seconds,
    drainSeconds,
    seed,
    missed,
    void: missed.length > 0,
    lacking: stage.lacking,
    examples: [lost, doubled, zombieWrites, stuck, violations]
      .flatMap((tally) => tally.examples)
      .concat(deaths)
      .slice(0, EXAMPLES_MAX),
  };
}

function missedOf({ doses, faults, judge, stage }: ReportParts): string[] {
  const counts = faults.counts;
  const isLacking = (fault: Fault) => stage.lacking.some((why) => why.startsWith(`${fault}:`));
  return [
    ...(Object.keys(doses) as Fault[])
      .filter((fault) => counts[fault] < doses[fault] && !isLacking(fault))
      .map((fault) => `${fault}: ${counts[fault]} of ${doses[fault]}`),
    ...(judge.advanced === 0 ? ['advanced: no run went on under newer code'] : []),
    ...judge.rules
      .filter(({ looked }) => looked === 0)
      .map(({ name }) => `the rule '${name}' looked at nothing`),
    ...judge.rules
      .filter(isUndecided)
      .map(({ name, undecided }) => `the rule '${name}' could not decide ${undecided} times`),
  ];
}

function answersOf(calls: readonly StormCall[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { what, answer } of calls) {
    const name = `${what} ${typeof answer === 'number' ? 'done' : answer}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

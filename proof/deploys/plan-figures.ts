/** One planned deploy, from an empty database to its figures. */

import { type Disagreement, disagreements } from './plan-judge.ts';
import type { Evidence } from './plan-stage.ts';
import { PlanStage, type StageOptions } from './plan-stage.ts';

export interface PlanFigures {
  readonly runs: number;
  readonly foretold: Readonly<Record<string, number>>;
  /** Inside work or persist when it was planned, and how many of them were cut off by the deploy. */
  readonly repeats: number;
  readonly cutOff: number;
  readonly exitCode: number | null;
  readonly planMs: number;
  readonly disagreements: number;
  /** Of those that were blocked: not ended under their own version when it came back. */
  readonly leftAtEnd: number;
  /** Fates of which nothing was shown, since no run had them. */
  readonly missed: readonly string[];
}

const FATES = ['continues', 'advances', 'upgrades', 'blocked'];

export interface PlanShown {
  readonly figures: PlanFigures;
  readonly evidence: Evidence;
  readonly wrong: readonly Disagreement[];
}

export async function showPlan(options: StageOptions): Promise<PlanShown> {
  const evidence = await PlanStage.run(options);
  const { ids, foretold, planned, planMs, leftAtEnd } = evidence;
  const wrong = disagreements(evidence);
  const counts: Record<string, number> = {};
  for (const { fate } of foretold) counts[fate] = (counts[fate] ?? 0) + 1;
  const repeated = foretold.filter(({ repeats }) => repeats !== undefined);
  const figures = {
    runs: ids.length,
    foretold: counts,
    repeats: repeated.length,
    cutOff: repeated.filter(({ run, repeats }) => wasCut(evidence, run, repeats!)).length,
    exitCode: planned.exitCode,
    planMs: Math.round(planMs),
    disagreements: wrong.length,
    leftAtEnd,
    missed: FATES.filter((fate) => counts[fate] === undefined),
  };
  return { figures, evidence, wrong };
}

function wasCut({ calls }: Evidence, run: string, place: string): boolean {
  const of = (what: string) =>
    (calls.get(run) ?? []).filter((call) => call.place === place && call.what === what);
  return (
    of('begin').some(({ code }) => code === 'v2') && of('end').every(({ code }) => code !== 'v1')
  );
}

/** What `fleetq plan` found, for people: a line for each group, and in words what stands in the way. */
import type { FateWord } from '../../fleet/index.ts';
import type { Output } from '../output.ts';
import type { Style } from '../paint.ts';
import { type Column, plain } from '../table.ts';
import type { Passed } from './plan-runs.ts';
import type { PlanGroup, PlanTally } from './plan-tally.ts';

/** A machine that was changed under its version. */
export interface Changed {
  readonly route: string;
  readonly changes: readonly string[];
}

export interface PlanReport {
  readonly tally: PlanTally;
  readonly passed: Passed;
  readonly changed: readonly Changed[];
  readonly sampleMax: number;
  readonly hasStore: boolean;
}

const STYLE: Record<FateWord, Style> = {
  continues: 'reset',
  advances: 'green',
  upgrades: 'cyan',
  blocked: 'red',
  ends: 'gray',
  fails: 'red',
};

export function showPlan(output: Output, report: PlanReport): void {
  const { tally, changed } = report;
  if (output.isJson) {
    const { runs, counts, inHand, repeats, untried, mayBlock, groups } = tally;
    output.json({ runs, counts, inHand, repeats, untried, mayBlock, changed, groups });
  } else if (tally.runs > 0) output.table(tally.groups, columns());
  for (const line of notesOf(report)) output.note(line);
}

function notesOf({ tally, passed, changed, sampleMax, hasStore }: PlanReport): string[] {
  const { runs, counts, inHand, repeats, untried, mayBlock } = tally;
  const notes: string[] = [];
  const say = (isSo: boolean, text: string) => isSo && notes.push(text);
  const told = Object.entries(counts).filter(([, count]) => count > 0);
  const words = told.map(([word, count]) => `${count.toLocaleString('en')} ${word}`);
  notes.push(runs === 0 ? 'no run is in flight' : `${numbered(runs, 'run')}: ${words.join(', ')}`);
  for (const { route, changes } of changed) {
    notes.push(
      `${route} was changed under its version, so no pod with it would join: ${changes.join('; ')}`,
    );
  }
  say(
    untried > 0,
    sampleMax === 0
      ? `upgrades were not tried: --sample asks them about real runs, and writes nothing`
      : `of the upgrades ${untried.toLocaleString('en')} were not tried: --sample all asks about every run`,
  );
  say(
    repeats > 0,
    `${numbered(repeats, 'run')} may be inside work or persist: one that does not finish within the ` +
      'drain budget is cut off, asked about by its check, and done again',
  );
  say(
    mayBlock > 0,
    `${numbered(mayBlock, 'run')} more would be blocked if the phase they are in is done first`,
  );
  say(
    inHand > 0,
    `${numbered(inHand, 'run')} are held by pods now: told by what is archived of them so far`,
  );
  say(
    passed.held > 0 && !hasStore,
    `${numbered(passed.held, 'task')} of a fleet are held here: name its store with --store`,
  );
  return notes;
}

function numbered(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

function columns(): Column<PlanGroup>[] {
  return [
    { head: 'MACHINE', text: ({ machine, version }) => `${machine}@${version}` },
    { head: 'FATE', text: fateText, style: ({ fate }) => STYLE[fate] },
    { head: 'RUNS', text: ({ count }) => `${count}`, align: 'right' },
    { head: 'REPEATS', text: ({ repeats }) => repeats ?? '' },
    { head: 'SUCH AS', text: ({ examples }) => examples[0] ?? '' },
    { head: 'WHY', text: ({ reason }) => plain(reason ?? ''), isElastic: true },
  ];
}

function fateText({ fate, to, version, isTried, ifDone }: PlanGroup): string {
  const or = ifDone === undefined ? '' : `, or ${ifDone}`;
  if (to === undefined || to === version) return `${fate}${or}`;
  return `${fate} to ${to}${isTried === false ? ', not tried' : ''}${or}`;
}

/** The trace as lines of a tree: what each says, how long it took, and in which colour. */
import { assertNever, isoTime, showDuration } from '../../ground/index.ts';
import type { Attempt, AttemptOutcome, Mark, Trace, Wait } from '../../telemetry/trace.ts';
import type { Style } from '../paint.ts';
import { plain } from '../table.ts';
import type { Glyphs } from './glyphs.ts';
import { type Elision, errorName, type Shown, withoutRepeats } from './rounds.ts';

export interface Row {
  /** Branches and trunks before it. */
  readonly lead: string;
  readonly label: string;
  readonly note: string;
  readonly style: Style;
  readonly pod: string | undefined;
  /** How long; empty for what has no length. */
  readonly took: string;
  readonly bar: Bar;
}

export interface Bar {
  readonly from: number;
  readonly to: number;
  readonly of: 'work' | 'lost' | 'wait' | 'step' | 'many' | 'mark' | 'axis';
}

const STYLE: Record<AttemptOutcome, Style> = {
  done: 'green',
  handedOff: 'blue',
  retried: 'yellow',
  postponed: 'yellow',
  drained: 'magenta',
  upgraded: 'magenta',
  open: 'cyan',
  crashed: 'red',
  exhausted: 'red',
  aborted: 'red',
  timedOut: 'red',
  cancelled: 'gray',
};

const WORD: Record<AttemptOutcome, string> = {
  done: '',
  handedOff: 'handed off',
  retried: 'failed',
  postponed: 'postponed',
  drained: 'let go by a drain',
  upgraded: 'given up by the upgrade',
  open: 'under way',
  crashed: 'CRASHED',
  exhausted: 'failed for good',
  aborted: 'aborted',
  timedOut: 'timed out',
  cancelled: 'cancelled',
};

/** A step that stands alone is not worth a level of its own. */
const ONLY_STEP = 'main';

export type PodLetter = (pod: string | undefined) => string | undefined;

export function rowsOf(trace: Trace, glyphs: Glyphs, letterOf: PodLetter): Row[] {
  const steps = stepsOf(trace);
  const toRow = (shown: Shown, lead: string) => rowOf(shown, trace, { glyphs, letterOf, lead });
  if (steps.length === 1 && steps[0]!.name === ONLY_STEP) {
    const shown = withoutRepeats(steps[0]!.items);
    return shown.map((one, at) => toRow(one, branch(glyphs, at, shown)));
  }
  return steps.flatMap((step, at) => {
    const shown = withoutRepeats(step.items);
    const trunk = at === steps.length - 1 ? glyphs.blank : glyphs.trunk;
    return [
      stepRow(step, trace, branch(glyphs, at, steps)),
      ...shown.map((one, index) => toRow(one, `${trunk}${branch(glyphs, index, shown)}`)),
    ];
  });
}

export interface StepItems {
  readonly name: string;
  readonly items: readonly Trace['items'][number][];
}

/** One after the other; an upgrade may lead back to one that has been. */
export function stepsOf({ items }: Trace): StepItems[] {
  const steps: { name: string; items: Trace['items'][number][] }[] = [];
  for (const item of items) {
    if (steps.at(-1)?.name !== item.step) steps.push({ name: item.step, items: [] });
    steps.at(-1)!.items.push(item);
  }
  return steps;
}

function branch(glyphs: Glyphs, at: number, among: readonly unknown[]): string {
  return at === among.length - 1 ? glyphs.last : glyphs.branch;
}

function stepRow({ name, items }: StepItems, { until }: Trace, lead: string): Row {
  const spans = items.filter((item) => item.kind !== 'mark');
  const from = spans[0]?.beganAt ?? until;
  const to = spans.at(-1) ? (spans.at(-1)!.endedAt ?? until) : from;
  return {
    ...{ lead, label: plain(name), note: '', style: 'bold', pod: undefined },
    took: showDuration(to - from),
    bar: { from, to, of: 'step' },
  };
}

interface Drawn {
  readonly glyphs: Glyphs;
  readonly letterOf: PodLetter;
  readonly lead: string;
}

function rowOf(shown: Shown, { until }: Trace, drawn: Drawn): Row {
  switch (shown.kind) {
    case 'attempt':
      return attemptRow(shown, until, drawn);
    case 'wait':
      return waitRow(shown, until, drawn);
    case 'mark':
      return markRow(shown, drawn);
    case 'elision':
      return elisionRow(shown, until, drawn);
    default:
      return assertNever(shown);
  }
}

function attemptRow(of: Attempt, until: number, { glyphs, letterOf, lead }: Drawn): Row {
  const [from, to] = [of.beganAt, of.endedAt ?? until];
  const isSure = of.isBeginKnown && of.isEndKnown;
  const isWait = of.phase === 'sleep' && of.isEndKnown;
  const isTold = of.outcome === 'retried' || of.outcome === 'exhausted';
  return {
    lead,
    label: of.attempt > 1 ? `${of.phase} #${of.attempt}` : of.phase,
    note: [noteOf(of), isTold && of.error ? plain(errorName(of.error)) : '']
      .filter((word) => word !== '')
      .join(' '),
    style: isWait && of.outcome === 'done' ? 'gray' : STYLE[of.outcome],
    // Nobody has a run in hand that sleeps for long.
    pod: isWait ? undefined : letterOf(of.pod),
    took: `${isSure ? '' : glyphs.atMost}${showDuration(to - from)}`,
    bar: { from, to, of: isWait ? 'wait' : of.isEndKnown ? 'work' : 'lost' },
  };
}

function noteOf({ phase, outcome, dueAt }: Attempt): string {
  if (phase !== 'sleep' || outcome !== 'open') return WORD[outcome];
  return dueAt === undefined ? 'falls asleep' : `until ${shortTime(dueAt)}`;
}

const WHY: Record<Wait['why'], string> = {
  retry: 'waits to try again',
  postponed: 'waits as it asked to',
  process: 'waits for a process',
};

function waitRow({ why, beganAt, endedAt, dueAt }: Wait, until: number, { lead }: Drawn): Row {
  const [from, to] = [beganAt, endedAt ?? until];
  const isOpen = endedAt === undefined && dueAt !== undefined;
  return {
    lead,
    label: WHY[why],
    note: isOpen ? `until ${shortTime(dueAt)}` : '',
    style: 'gray',
    pod: undefined,
    took: showDuration(to - from),
    bar: { from, to, of: 'wait' },
  };
}

function markRow(of: Mark, { glyphs, letterOf, lead }: Drawn): Row {
  return {
    lead,
    label: `${glyphs.mark} ${markText(of, letterOf)}`,
    note: '',
    style: of.what === 'taken' || of.what === 'restarted' ? 'magenta' : 'cyan',
    pod: letterOf(of.pod),
    took: '',
    bar: { from: of.at, to: of.at, of: 'mark' },
  };
}

function markText({ what, pod, version, from }: Mark, letterOf: PodLetter): string {
  switch (what) {
    case 'taken':
      return pod === from.pod ? 'taken up again' : `taken over by pod ${letterOf(pod) ?? '?'}`;
    case 'restarted':
      return 'gone on by the next process';
    case 'advanced':
      return `goes on under version ${version}`;
    case 'upgraded':
      return `upgraded to version ${version}`;
    default:
      return assertNever(what);
  }
}

const ERRORS_MAX = 3;

function elisionRow(of: Elision, until: number, { glyphs, lead }: Drawn): Row {
  const [from, to] = [of.beganAt, of.endedAt ?? until];
  const like = of.isMixed ? '' : ' like this';
  const errors = of.errors.length > 1 ? of.errors.slice(0, ERRORS_MAX) : [];
  return {
    lead,
    label: `${glyphs.ellipsis} ${of.attempts} more attempts${like}`,
    note: errors.map(([name, count]) => `${plain(name)} ${count}`).join(', '),
    style: 'gray',
    pod: undefined,
    took: showDuration(to - from),
    bar: { from, to, of: 'many' },
  };
}

/** '11-15 23:04:05': what was meant is seldom another year. */
export function shortTime(at: number): string {
  return isoTime(at).slice(5, 19).replace('T', ' ');
}

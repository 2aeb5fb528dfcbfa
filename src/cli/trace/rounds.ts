/**
 * Hundreds of attempts that went the same way say no more than three of them: the first ones and the
 * last are shown, and how many there were between. A round is what belongs to one try: its probe, the
 * attempt that came to nothing, the wait after it, and whoever took the run over then.
 */
import type { Attempt, TraceItem } from '../../telemetry/trace.ts';

export interface Elision {
  readonly kind: 'elision';
  readonly step: string;
  readonly attempts: number;
  readonly isMixed: boolean;
  readonly beganAt: number;
  readonly endedAt: number | undefined;
  /** What was thrown, and how often; the most frequent first. */
  readonly errors: readonly (readonly [name: string, count: number])[];
}

export type Shown = TraceItem | Elision;
type Round = readonly TraceItem[];

const FIRST_COUNT = 2;
const LAST_COUNT = 1;
/** Less than this is shown as it is: a line that says so would save next to nothing. */
const HIDDEN_MIN = 3;
/** However different they are, no more rounds of a step are shown. */
const ROUNDS_MAX = 40;
const ROUNDS_FIRST = 12;
const ROUNDS_LAST = 8;

const ONWARD: ReadonlySet<Attempt['outcome']> = new Set(['done', 'handedOff', 'open', 'upgraded']);

/** The items of one step, the many that are alike as one. */
export function withoutRepeats(items: readonly TraceItem[]): Shown[] {
  const rounds = roundsOf(items);
  if (rounds.length <= FIRST_COUNT + LAST_COUNT + HIDDEN_MIN - 1) return [...items];
  const groups = alike(rounds);
  const shown = groups.reduce((sum, { length }) => sum + Math.min(length, SHOWN_MAX), 0);
  if (shown <= ROUNDS_MAX) return groups.flatMap((group) => elide(group, FIRST_COUNT, LAST_COUNT));
  return elide(rounds, ROUNDS_FIRST, ROUNDS_LAST);
}

const SHOWN_MAX = FIRST_COUNT + LAST_COUNT + 1;

function roundsOf(items: readonly TraceItem[]): Round[] {
  const rounds: TraceItem[][] = [];
  let isOver = true;
  for (const item of items) {
    if (isOver && item.kind === 'attempt') rounds.push([]);
    else if (rounds.length === 0) rounds.push([]);
    rounds.at(-1)!.push(item);
    if (item.kind === 'attempt') isOver = !ONWARD.has(item.outcome);
  }
  return rounds;
}

/** Neighbours that went the same way, whatever was thrown and however long they waited. */
function alike(rounds: readonly Round[]): Round[][] {
  const groups: Round[][] = [];
  let last: string | undefined;
  for (const round of rounds) {
    const way = wayOf(round);
    if (way === last) groups.at(-1)!.push(round);
    else groups.push([round]);
    last = way;
  }
  return groups;
}

function wayOf(round: Round): string {
  return round
    .map((item) => {
      if (item.kind === 'attempt') return `${item.phase} ${item.outcome}`;
      return item.kind === 'mark' ? item.what : '';
    })
    .filter((word) => word !== '')
    .join(', ');
}

function elide(rounds: readonly Round[], firstCount: number, lastCount: number): Shown[] {
  const hidden = rounds.slice(firstCount, -lastCount);
  if (hidden.length < HIDDEN_MIN) return rounds.flat();
  const between = elisionOf(hidden);
  return [...rounds.slice(0, firstCount).flat(), between, ...rounds.slice(-lastCount).flat()];
}

function elisionOf(rounds: readonly Round[]): Elision {
  const spans = rounds.flat().filter((item) => item.kind !== 'mark');
  const errors = new Map<string, number>();
  for (const span of spans) {
    const name = span.kind === 'attempt' && span.error ? errorName(span.error) : undefined;
    if (name !== undefined) errors.set(name, (errors.get(name) ?? 0) + 1);
  }
  return {
    kind: 'elision',
    step: spans[0]!.step,
    attempts: rounds.length,
    isMixed: alike(rounds).length > 1,
    beganAt: spans[0]!.beganAt,
    endedAt: spans.at(-1)!.endedAt,
    errors: [...errors].sort(([, a], [, b]) => b - a),
  };
}

/** A code says more than 'Error' does. */
export function errorName({ name, code }: NonNullable<Attempt['error']>): string {
  return code ?? name;
}

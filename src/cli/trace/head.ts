/** What stands above the tree: which run this is, how it went, and where its time has gone. */
import { isoTime, showDuration, traceIdOf } from '../../ground/index.ts';
import type { Outcome } from '../../machine/index.ts';
import { type Trace, totalsOf } from '../../telemetry/trace.ts';
import type { Paint, Style } from '../paint.ts';
import { plain } from '../table.ts';
import type { Glyphs } from './glyphs.ts';

const WORD: Record<Outcome, readonly [word: string, style: Style]> = {
  completed: ['completed', 'green'],
  handedOff: ['handed off', 'blue'],
  exhausted: ['failed', 'red'],
  aborted: ['aborted', 'red'],
  timedOut: ['timed out', 'red'],
  cancelled: ['cancelled', 'gray'],
};

export interface Pods {
  readonly ids: readonly string[];
  letterOf(pod: string | undefined): string | undefined;
}

/** A, B, C … in the order in which they had the run; nobody is named where there is but one. */
export function podsOf({ items }: Trace): Pods {
  const ids: string[] = [];
  const add = (pod: string | undefined) => {
    if (pod !== undefined && !ids.includes(pod)) ids.push(pod);
  };
  for (const item of items) {
    if (item.kind === 'wait') continue;
    if (item.kind === 'mark') add(item.from.pod);
    add(item.pod);
  }
  const letters = new Map(ids.map((id, at) => [id, letterAt(at)]));
  const isOne = ids.length < 2;
  return { ids, letterOf: (pod) => (isOne || pod === undefined ? undefined : letters.get(pod)) };
}

/** A … Z, A1 … Z1 and so on. */
function letterAt(at: number): string {
  const letter = String.fromCharCode(65 + (at % 26));
  return at < 26 ? letter : `${letter}${Math.floor(at / 26)}`;
}

const PODS_MAX = 8;

export function headOf(
  run: string,
  trace: Trace,
  pods: Pods,
  nameOf: (pod: string) => string | undefined,
  { paint, glyphs }: { readonly paint: Paint; readonly glyphs: Glyphs },
): string[] {
  const { machine, version, generation, startedAt, end } = trace;
  const [word, style] = end ? WORD[end.outcome] : (['under way', 'cyan'] as const);
  const totals = totalsOf(trace);
  const dot = ` ${glyphs.dot} `;
  const name = (text: string) => paint('gray', text.padEnd(7));
  const at = end && end.outcome !== 'completed' ? ` at ${plain(end.state)}` : '';
  const took = `${end ? 'after' : 'for'} ${showDuration(totals.totalMs)}`;
  const more = generation !== undefined && generation > 1 ? `${dot}generation ${generation}` : '';
  return [
    `${paint('bold', `${plain(machine)}@${version}`)}  ${paint(style, word)}${at} ${took}${more}`,
    `${name('trace')} ${traceIdOf(run)}`,
    `${name('run')} ${run}`,
    `${name('began')} ${isoTime(startedAt)}`,
    `${name('time')} ${timesOf(totals, dot, glyphs)}`,
    ...podLines(pods, nameOf).map((line, at) => `${name(at === 0 ? 'pods' : '')} ${line}`),
  ];
}

function timesOf(
  { workingMs, waitingMs, lostMs }: ReturnType<typeof totalsOf>,
  dot: string,
  glyphs: Glyphs,
): string {
  const parts = [`working ${showDuration(workingMs)}`, `waiting ${showDuration(waitingMs)}`];
  if (lostMs > 0) parts.push(`lost ${glyphs.atMost}${showDuration(lostMs)}`);
  return parts.join(dot);
}

function podLines({ ids, letterOf }: Pods, nameOf: (pod: string) => string | undefined): string[] {
  const lineOf = (pod: string) =>
    [letterOf(pod), plain(pod), plain(nameOf(pod) ?? '')].filter(Boolean).join(' ');
  if (ids.length <= PODS_MAX) return ids.map(lineOf);
  const rest = ids.length - PODS_MAX;
  return [...ids.slice(0, PODS_MAX).map(lineOf), `and ${rest} more`];
}

/** The live picture of `fleetq dev` as lines of text: a pure function of what is known. */
import type { MachineInfo } from '../../admin/index.ts';
import { showDuration } from '../../ground/index.ts';
import { columnsOf } from '../columns.ts';
import type { Paint, Style } from '../paint.ts';
import { ageOf, STYLE_OF_STATUS, WORD_OF_STATUS } from '../shape.ts';
import { type Column, pad, tableText } from '../table.ts';
import type { BoardPod, PodState, Totals } from './board.ts';
import type { ShownRun } from './lines.ts';
import { stripOf } from './strip.ts';
import { type Verdict, verdictText } from './verifier.ts';

/** A run, and its pod. */
export interface RunLine extends ShownRun {
  /** 'pod-1', or 'pod-3 → 1' after a take-over; empty while no pod runs it. */
  readonly pod: string;
  /** `orphaned`: its pod has died, and no other has taken it over yet. `released`: any pod may claim it. */
  readonly mark?: 'orphaned' | 'released' | undefined;
}
export interface Message {
  readonly text: string;
  readonly style: Style;
}
export interface Picture {
  /** The address of the admin UI, or why there is none. */
  readonly pages: string;
  readonly store: string;
  /** Whether there are tasks to enqueue with a key. */
  readonly hasSamples: boolean;
  readonly pods: readonly BoardPod[];
  readonly runs: readonly RunLine[];
  readonly machines: ReadonlyMap<string, MachineInfo>;
  readonly totals: Totals;
  readonly verdict: Verdict;
  readonly messages: readonly Message[];
  readonly now: number;
  readonly monotonicMs: number;
}
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const STRIP_WIDTH = 16;
/** With it all columns fit into a terminal of 80, and none has to give way when another needs more. */
const STRIP_WIDTH_NARROW = 14;
const NAME_WIDTH_MIN = 14;
const NAME_WIDTH_MAX = 40;
const MESSAGES_MAX = 8;
/** Lines that are always there: head, pods and their head, table head, totals, verdict, keys, blanks. */
const FRAME_ROWS = 14;
const MESSAGE_ROWS_MIN = 3;
/** Of what is left beside the frame: what happens is read, how runs go is only glanced at. */
const MESSAGE_SHARE = 0.4;
const RUN_ROWS_MIN = 3;
export const RUN_ROWS_MAX = 14;
const WIDE = 100;

/** How many runs there is room for. */
export function runRows({ rows }: Size): number {
  const left = rows - FRAME_ROWS;
  const messages = Math.max(MESSAGE_ROWS_MIN, Math.floor(left * MESSAGE_SHARE));
  return Math.max(RUN_ROWS_MIN, Math.min(RUN_ROWS_MAX, left - messages));
}

/** As many lines as the screen has, each no wider than it. */
export function drawScreen(picture: Picture, size: Size, paint: Paint): string[] {
  const { columns } = size;
  const width = Math.min(columns, 120) - 2;
  const count = runRows(size);
  const runs = tableText(picture.runs.slice(0, count), runColumns(picture, columns), width, paint);
  const blanks = Array.from({ length: Math.max(0, count - picture.runs.length) }, () => '');
  const room = Math.max(MESSAGE_ROWS_MIN, size.rows - FRAME_ROWS - count);
  const shown = picture.messages.slice(-Math.min(MESSAGES_MAX, room));
  const lines = [
    headText(picture, width, paint),
    '',
    ...tableText(picture.pods, podColumns(picture), width, paint).split('\n'),
    '',
    ...runs.split('\n'),
    ...blanks,
    '',
    totalsText(picture.totals, paint),
    verdictLine(picture.verdict, paint),
    '',
    ...shown.map(({ text, style }) => paint(style, pad(text, width).trimEnd())),
    ...Array.from({ length: Math.min(MESSAGES_MAX, room) - shown.length }, () => ''),
    '',
    keysText(picture, paint),
  ].map((line) => (line === '' ? '' : ` ${line}`));
  // On a terminal that is too low the keys stay, and the messages give way.
  return lines.length <= size.rows ? lines : [...lines.slice(0, size.rows - 1), lines.at(-1) ?? ''];
}

/** The address of the pages is never cut: that of the store takes what room is left. */
function headText({ pages, store }: Picture, width: number, paint: Paint): string {
  const name = 'fleetq dev  admin UI ';
  const room = Math.max(0, width - columnsOf(name) - columnsOf(pages) - 2);
  const short = columnsOf(store) <= room ? store : pad(store, room).trimEnd();
  const blanks = ' '.repeat(Math.max(0, room - columnsOf(short)) + 2);
  const [brand, word] = [paint('bold', 'fleetq dev'), paint('gray', 'admin UI')];
  return `${brand}  ${word} ${paint(['cyan', 'bold'], pages)}${blanks}${paint('gray', short)}`;
}

const STYLE_OF_POD: Record<PodState, Style> = {
  starting: 'yellow',
  up: 'green',
  handingOver: 'magenta',
  killed: 'red',
  gone: 'red',
};

function podColumns({ monotonicMs }: Picture): Column<BoardPod>[] {
  const sinceOf = ({ sinceMs }: BoardPod) => showDuration(Math.max(0, monotonicMs - sinceMs));
  return [
    { head: pad('POD', 7), text: ({ name, isLeader }) => `${name}${isLeader ? ' ★' : ''}` },
    { head: 'PROCESS', text: ({ pid }) => (pid === undefined ? '' : `${pid}`) },
    {
      head: pad('STATE', 30),
      text: (pod) => stateOf(pod, sinceOf(pod)),
      style: ({ state }) => STYLE_OF_POD[state],
      isElastic: true,
    },
    { head: 'HOLDS', text: ({ holds }) => `${holds.size}`, align: 'right' },
    { head: ' ENDED', text: ({ ended }) => `${ended}`, align: 'right' },
    { head: 'TOOK OVER', text: ({ tookOver }) => (tookOver ? `${tookOver}` : ''), align: 'right' },
  ];
}

function stateOf({ state, orphans }: BoardPod, since: string): string {
  if (state === 'handingOver') return 'handing over to new code …';
  if (state !== 'killed') return state === 'up' ? `up ${since}` : `${state} …`;
  const left = orphans.size === 1 ? '1 run waits' : `${orphans.size} runs wait`;
  return orphans.size === 0 ? `killed ${since} ago` : `killed ${since} ago, ${left}`;
}

function runColumns({ machines, now }: Picture, columns: number): Column<RunLine>[] {
  const isWide = columns >= WIDE;
  // Of all machines, not of those shown now: the table stands still while runs come and go.
  const names = [...machines.values()]
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('recovery/'))
    .map(({ length }) => length);
  const nameWidth = Math.min(NAME_WIDTH_MAX, Math.max(NAME_WIDTH_MIN, ...names));
  const stripWidth = isWide ? STRIP_WIDTH : STRIP_WIDTH_NARROW;
  const styleOf = (run: RunLine): Style => (run.mark ? 'yellow' : STYLE_OF_STATUS[run.status]);
  return [
    { head: pad('TASK', isWide ? 26 : 10), text: (run) => (isWide ? run.id : shortId(run.id)) },
    { head: pad('POD', 9), text: ({ pod }) => pod, style: podStyle },
    { head: pad('MACHINE', nameWidth), text: (run) => run.machine, isElastic: true },
    {
      head: pad('PHASES', stripWidth),
      text: (run) => stripOf(run, machines.get(`${run.machine}@${run.version}`), stripWidth),
      style: styleOf,
    },
    {
      head: pad('STATUS', 10),
      text: (run) => run.mark ?? WORD_OF_STATUS[run.status],
      style: styleOf,
    },
    { head: 'TRY', text: (run) => `${run.attempt}`, align: 'right' },
    { head: '  TIME', text: (run) => ageOf(run, now), align: 'right' },
  ];
}

/** What changed hands is what one looks for after a kill. */
function podStyle({ pod, mark }: RunLine): Style | undefined {
  if (mark) return 'yellow';
  return pod.includes('→') ? 'magenta' : undefined;
}

/** The end of an id is what differs between runs that were started together. */
export function shortId(id: string): string {
  return `…${id.slice(-9)}`;
}

function totalsText(totals: Totals, paint: Paint): string {
  const parts = [
    ['enqueued', totals.enqueued, 'reset'],
    ['completed', totals.completed, 'green'],
    ['handed off', totals.handedOff, 'blue'],
    ['failed', totals.failed, 'red'],
    ['taken over', totals.takenOver, 'magenta'],
  ] as const;
  return parts
    .map(([word, count, style]) => `${paint('gray', word)} ${paint(style, `${count}`.padEnd(5))}`)
    .join(' ')
    .trimEnd();
}

/** What the outside ledger says: the line this whole screen is for. */
function verdictLine(verdict: Verdict, paint: Paint): string {
  const isGood = verdict.lost.length + verdict.doubled.length === 0;
  const style: Style = isGood ? 'green' : ['red', 'bold'];
  return paint(style, `${isGood ? '✓' : '✕'} ${verdictText(verdict)}`);
}

function keysText({ hasSamples }: Picture, paint: Paint): string {
  return [
    ['k', 'kill a pod'],
    ...(hasSamples
      ? [
          ['s', 'enqueue more'],
          ['t', '429'],
        ]
      : []),
    ['d', 'deploy'],
    ['q', 'drain and quit'],
    ['★', 'leads'],
  ]
    .map(([key, about]) => `${paint('bold', key!)} ${paint('gray', about!)}`)
    .join(hasSamples ? '  ' : '    ');
}

/** The live table of `fleetq dev` as lines of text: a pure function of what is known. */
import type { MachineInfo } from '../../admin/index.ts';
import type { RunSummary } from '../../engine/index.ts';
import { showDuration } from '../../ground/index.ts';
import type { Paint } from '../paint.ts';
import { ageOf, STYLE_OF_STATUS, WORD_OF_STATUS } from '../shape.ts';
import { type Column, pad, plain, tableText } from '../table.ts';
import { stripOf } from './strip.ts';

export interface Totals {
  readonly started: number;
  readonly completed: number;
  readonly handedOff: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly resumed: number;
}
export interface Picture {
  readonly dataDir: string;
  /** Whether there are runs to start with a key. */
  readonly hasSamples: boolean;
  /** One line on the worker: its pid, since when, how busy. */
  readonly worker: string;
  readonly isUp: boolean;
  readonly runs: readonly RunSummary[];
  readonly machines: ReadonlyMap<string, MachineInfo>;
  readonly totals: Totals;
  readonly messages: readonly string[];
  readonly now: number;
}
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const STRIP_WIDTH = 16;
const NAME_WIDTH_MIN = 14;
const NAME_WIDTH_MAX = 40;
const MESSAGES_MAX = 7;
/** Lines that are always there: head, worker, table head, totals, keys, and the blanks between. */
const FRAME_ROWS = 9;
export const RUN_ROWS_MAX = 14;
const WIDE = 100;

/** How many runs there is room for. */
export function runRows({ rows }: Size): number {
  return Math.max(3, Math.min(RUN_ROWS_MAX, rows - FRAME_ROWS - MESSAGES_MAX));
}

/** As many lines as the screen has, each no wider than it. */
export function drawScreen(picture: Picture, size: Size, paint: Paint): string[] {
  const { columns } = size;
  const width = Math.min(columns, 120) - 2;
  const count = runRows(size);
  const table = tableText(picture.runs.slice(0, count), runColumns(picture, columns), width, paint);
  const blanks = Array.from({ length: Math.max(0, count - picture.runs.length) }, () => '');
  const head = pad('fleetq dev', width - picture.dataDir.length);
  const messages = picture.messages.slice(-MESSAGES_MAX).map((text) => pad(text, width).trimEnd());
  const lines = [
    `${paint('bold', head)}${paint('gray', picture.dataDir)}`,
    paint(picture.isUp ? 'gray' : 'yellow', pad(picture.worker, width).trimEnd()),
    '',
    ...table.split('\n'),
    ...blanks,
    '',
    totalsText(picture.totals, paint),
    '',
    ...messages.map((text) => paint('gray', text)),
    ...Array.from({ length: MESSAGES_MAX - messages.length }, () => ''),
    '',
    keysText(picture, paint),
  ].map((line) => (line === '' ? '' : ` ${line}`));
  // On a terminal that is too low the keys stay, and the messages give way.
  return lines.length <= size.rows ? lines : [...lines.slice(0, size.rows - 1), lines.at(-1) ?? ''];
}

function runColumns({ machines, now }: Picture, columns: number): Column<RunSummary>[] {
  const isWide = columns >= WIDE;
  // Of all machines, not of those shown now: the table stands still while runs come and go.
  const names = [...machines.values()].map(({ name }) => name.length);
  const nameWidth = Math.min(NAME_WIDTH_MAX, Math.max(NAME_WIDTH_MIN, ...names));
  return [
    { head: pad('RUN', isWide ? 26 : 10), text: (run) => (isWide ? run.id : shortId(run.id)) },
    { head: pad('MACHINE', nameWidth), text: (run) => run.machine, isElastic: true },
    {
      head: pad('PHASES', STRIP_WIDTH),
      text: (run) => stripOf(run, machines.get(`${run.machine}@${run.version}`), STRIP_WIDTH),
      style: (run) => STYLE_OF_STATUS[run.status],
    },
    ...(isWide
      ? [{ head: pad('STATE', 18), text: (run: RunSummary) => run.state, isElastic: true }]
      : []),
    {
      head: pad('STATUS', 11),
      text: (run) => WORD_OF_STATUS[run.status],
      style: (run) => STYLE_OF_STATUS[run.status],
    },
    { head: 'TRY', text: (run) => `${run.attempt}`, align: 'right' },
    { head: '  TIME', text: (run) => ageOf(run, now), align: 'right' },
  ];
}

/** The end of an id is what differs between runs that were started together. */
export function shortId(id: string): string {
  return `…${id.slice(-9)}`;
}

function totalsText(totals: Totals, paint: Paint): string {
  const parts = [
    ['started', totals.started, 'reset'],
    ['completed', totals.completed, 'green'],
    ['handed off', totals.handedOff, 'blue'],
    ['failed', totals.failed, 'red'],
    ['resumed', totals.resumed, 'yellow'],
  ] as const;
  return parts
    .map(([word, count, style]) => `${paint('gray', word)} ${paint(style, `${count}`.padEnd(5))}`)
    .join(' ')
    .trimEnd();
}

function keysText({ hasSamples }: Picture, paint: Paint): string {
  return [
    ['k', 'kill the worker'],
    ...(hasSamples ? [['s', 'start more runs']] : []),
    ['q', 'drain and quit'],
  ]
    .map(([key, about]) => `${paint('bold', key!)} ${paint('gray', about!)}`)
    .join('    ');
}

/** The line on the worker. */
export function workerText(worker: {
  readonly pid: number;
  readonly boot: number;
  readonly upMs: number;
  readonly busy: number;
  readonly slots: number;
  readonly queued: number;
  readonly stalledBy?: string | undefined;
}): string {
  const { pid, boot, upMs, busy, slots, queued, stalledBy } = worker;
  const load = `${busy} of ${slots} slots busy${queued > 0 ? `, ${queued} queued` : ''}`;
  const text = `worker ${pid}, boot ${boot}, up ${showDuration(upMs)}, ${load}`;
  return stalledBy ? `${text}, stalled: ${plain(stalledBy)}` : text;
}

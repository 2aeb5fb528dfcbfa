/** How runs look in tables: their columns, colours and times. */
import type { RunStatus, RunSummary } from '../engine/index.ts';
import { showDuration } from '../ground/index.ts';
import type { Style } from './paint.ts';
import type { Column } from './table.ts';

export const STYLE_OF_STATUS: Record<RunStatus, Style> = {
  active: 'cyan',
  waiting: 'yellow',
  blocked: 'magenta',
  quarantined: 'red',
  completed: 'green',
  handedOff: 'blue',
  failed: 'red',
  cancelled: 'gray',
};
export const WORD_OF_STATUS: Record<RunStatus, string> = {
  active: 'active',
  waiting: 'waiting',
  blocked: 'blocked',
  quarantined: 'quarantined',
  completed: 'completed',
  handedOff: 'handed off',
  failed: 'failed',
  cancelled: 'cancelled',
};

export function runColumns(now: number): Column<RunSummary>[] {
  return [
    { head: 'RUN', text: (run) => run.id },
    {
      head: 'MACHINE',
      text: (run) => run.machine,
      data: ({ machine, version }) => `${machine}@${version}`,
      isElastic: true,
    },
    { head: 'STATE', text: (run) => run.state, isElastic: true },
    {
      head: 'STATUS',
      text: (run) => run.status,
      style: (run) => STYLE_OF_STATUS[run.status],
    },
    { head: 'TRY', text: (run) => `${run.attempt}`, align: 'right' },
    { head: 'AGE', text: (run) => ageOf(run, now), align: 'right' },
  ];
}

/** How long it took, or has taken so far. */
export function ageOf(run: Pick<RunSummary, 'startedAt' | 'finishedAt'>, now: number): string {
  return showDuration(Math.max(0, (run.finishedAt ?? now) - run.startedAt));
}

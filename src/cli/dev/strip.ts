/** A run's phases on one line: where it has been, where it is, where it fell. */
import type { MachineInfo } from '../../admin/index.ts';
import type { RunStatus, RunSummary } from '../../engine/index.ts';

type PhaseMark = 'passed' | 'current' | 'failed' | 'ahead';
const MARK: Record<PhaseMark, string> = { passed: '●', current: '◉', failed: '✕', ahead: '○' };
/** What the phase a run stands at, or ended in, looks like. */
const LAST: Record<RunStatus, PhaseMark> = {
  active: 'current',
  waiting: 'current',
  blocked: 'current',
  quarantined: 'failed',
  completed: 'passed',
  handedOff: 'passed',
  failed: 'failed',
  cancelled: 'failed',
};

/** '●●●● ●◉○○ ○○○': a group for each step; counted instead where it would not fit. */
export function stripOf(
  run: Pick<RunSummary, 'state' | 'status'>,
  machine: MachineInfo | undefined,
  width: number,
): string {
  const phases = machine?.transitions ?? [];
  const at = phaseOf(phases, run);
  if (at < 0) return run.state.slice(0, width);
  const marks = phases.map((_, index) =>
    index < at ? 'passed' : index === at ? LAST[run.status] : 'ahead',
  );
  const text = phases
    .map(({ step }, index) => {
      const isNewStep = index > 0 && phases[index - 1]?.step !== step;
      return `${isNewStep ? ' ' : ''}${MARK[marks[index]!]}`;
    })
    .join('');
  return text.length <= width ? text : `${MARK[marks[at]!]} ${at + 1} of ${phases.length}`;
}

/** A run that has just started has no state yet; one that completed has passed them all. */
function phaseOf(
  phases: MachineInfo['transitions'],
  { state, status }: Pick<RunSummary, 'state' | 'status'>,
): number {
  if (status === 'completed') return phases.length - 1;
  if (state === '') return phases.length > 0 ? 0 : -1;
  return phases.findIndex(({ step, phase }) => `${step}.${phase}` === state);
}

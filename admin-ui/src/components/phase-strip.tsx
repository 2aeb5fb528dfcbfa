/** Check, work, validate, persist on one line: where the run has been, where it is, where it fell. */
import { hasEnded, kindOf } from '../format/words.ts';
import type { Run } from '../services/types.ts';

export const PHASES = ['check', 'work', 'validate', 'persist'] as const;
export type PhaseState = 'passed' | 'current' | 'failed' | 'ahead' | 'unknown';

const LETTER: Record<(typeof PHASES)[number], string> = {
  check: 'C',
  work: 'W',
  validate: 'V',
  persist: 'P',
};

/** Of the step the run is in. */
export function phaseStates(run: Run): readonly PhaseState[] {
  const kind = kindOf(run);
  if (kind === 'completed') return PHASES.map(() => 'passed');
  const phase = run.state?.split('.').at(-1);
  const at = (PHASES as readonly string[]).indexOf(phase ?? '');
  if (kind === 'handedOff')
    return PHASES.map((_, index) => (index <= Math.max(at, 0) ? 'passed' : 'ahead'));
  if (at < 0) return PHASES.map(() => (hasEnded(run) ? 'unknown' : 'ahead'));
  return PHASES.map((_, index) => {
    if (index < at) return 'passed';
    if (index > at) return 'ahead';
    return kind === 'failed' || kind === 'cancelled' ? 'failed' : 'current';
  });
}

export function PhaseStrip({ run }: { run: Run }) {
  const states = phaseStates(run);
  const at = run.state ?? 'no phase on record';
  return (
    <span
      className="strip"
      data-kind={kindOf(run)}
      role="img"
      aria-label={`${kindOf(run)}, ${at}`}
      title={at}
    >
      {PHASES.map((phase, index) => (
        <span key={phase} data-state={states[index]} aria-hidden="true">
          {LETTER[phase]}
        </span>
      ))}
    </span>
  );
}

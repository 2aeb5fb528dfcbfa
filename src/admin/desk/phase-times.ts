/**
 * What each phase of a run has taken, told from its last segment: for most runs that is all of them.
 * Pure. Where somebody else had it before, or its records are too many to be looked at in a list, what
 * is known is told as a part.
 */
import type { Segment } from '../../store/index.ts';

export interface PhaseTime {
  /** A step and a phase, with a dot between. */
  readonly phase: string;
  readonly ms: number;
  readonly tries: number;
  readonly failures: number;
}

export interface PhaseTimes {
  readonly phases: readonly PhaseTime[];
  readonly isPart: boolean;
}

interface Mark {
  readonly at: number;
  readonly event: string;
  readonly state: string;
  readonly data?: unknown;
}

/** They say who goes on, and end no phase. */
const QUIET: readonly string[] = ['STARTED', 'TAKEN', 'ADVANCED', 'UPGRADED', 'INTERRUPTED'];
const FALLS: readonly string[] = ['FAILED', 'EXHAUSTED', 'TIMED_OUT', 'ABORTED'];
const isPhase = (state: string) => state.includes('.');

export function phaseTimesOf({
  firstSeq,
  events,
}: Pick<Segment, 'firstSeq' | 'events'>): PhaseTimes {
  const marks = JSON.parse(events) as readonly Mark[];
  const times = new Map<string, PhaseTime>();
  let [state, since] = ['', 0];
  for (const { at, event, state: next, data } of marks) {
    if (state !== '' && !QUIET.includes(event)) {
      const { ms, tries, failures } = times.get(state) ?? { ms: 0, tries: 0, failures: 0 };
      times.set(state, {
        phase: state,
        // Clocks may go back, and a phase may end before it was due.
        ms: ms + Math.max(0, at - since),
        tries: tries + 1,
        failures: failures + (FALLS.includes(event) ? 1 : 0),
      });
    }
    if (isPhase(next)) state = next;
    since = Math.max(at, dueAtOf(data));
  }
  return { phases: [...times.values()], isPart: firstSeq > 0 || marks.length === 0 };
}

/** Until then it waits; what is sealed tells nothing. */
function dueAtOf(data: unknown): number {
  const { dueAt } = Object(data) as { readonly dueAt?: unknown };
  return typeof dueAt === 'number' ? dueAt : 0;
}

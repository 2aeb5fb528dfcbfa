/** What is told of a run by the process that has it, in the words in which records tell it. */
import type { FleetqEvents } from '../events.ts';
import { begunAfter, type Told } from './attempts.ts';
import type { Course, LiveAttempt } from './course.ts';
import { attemptIdOf, lostIdOf } from './ids.ts';
import { CRASH, phaseOf, stepOf, type Verdict } from './words.ts';

type Recorded = FleetqEvents['run.recorded'];

const NOBODY = { resumedBy: undefined, resumes: undefined };

/** An attempt that was called, and the record that it came to. */
export function called(
  course: Course,
  { of, startAt, elapsedMs, hash }: LiveAttempt,
  { at, seq, epoch }: Recorded,
  verdict: Verdict,
  pod: string | undefined,
): Told {
  const { step, phase, attempt } = of;
  return {
    whose: course.whose(pod),
    spanId: attemptIdOf(hash),
    name: `${of.machine}.${step}.${phase}`,
    startAt,
    endAt: elapsedMs === undefined ? at : startAt + elapsedMs,
    seq,
    epoch,
    what: { kind: 'attempt', step, phase, attempt, verdict, ...NOBODY },
  };
}

/** A wait that is over, or a deadline that came before anything was called. */
export function uncalled(
  course: Course,
  { from, machine, seq, epoch, at, prevHash, attempt }: Recorded,
  verdict: Verdict,
  pod: string | undefined,
): Told {
  const before = course.past.find((record) => record.seq === seq - 1);
  const [step, phase] = [stepOf(from), phaseOf(from)];
  return {
    whose: course.whose(pod),
    spanId: attemptIdOf(prevHash),
    name: `${machine}.${step}.${phase}`,
    startAt: before ? begunAfter(before, at) : at,
    endAt: at,
    seq,
    epoch,
    what: { kind: 'attempt', step, phase, attempt, verdict, ...NOBODY },
  };
}

/** Somebody had the run and died, and nothing is known but that. */
export function lost(course: Course, epoch: number, at: number): Told {
  const { run, generation, machine } = course;
  return {
    whose: course.whose(undefined),
    spanId: lostIdOf(run, generation, epoch),
    name: `lost ${machine}`,
    startAt: at,
    endAt: at,
    seq: 0,
    epoch,
    what: { kind: 'attempt', step: '', phase: '', attempt: 1, verdict: CRASH, ...NOBODY },
  };
}

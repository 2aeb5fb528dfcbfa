/**
 * Which span a phase has, for lines that name it. Whoever traces answers; a process has one tracer, and
 * whoever writes lines may have begun before it.
 */
import type { OfPhase } from './events.ts';

export type SpanIdOf = (phase: OfPhase) => string | undefined;

let answer: SpanIdOf | undefined;

export function answerSpanIds(by: SpanIdOf): () => void {
  answer = by;
  return () => {
    if (answer === by) answer = undefined;
  };
}

/** Undefined where nobody traces, or not this phase. */
export function spanIdOf(phase: OfPhase): string | undefined {
  return answer?.(phase);
}

/** What was found out about a run: in a sentence, with what shows it, and what to do about it. */
import type { Code } from './codes.ts';

/** What shows it: a record, a pod, a time. */
export interface Evidence {
  readonly text: string;
  readonly seq?: number | undefined;
  readonly epoch?: number | undefined;
  readonly pod?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at?: number | undefined;
}

export interface Hint {
  /** What for. */
  readonly text: string;
  /** What to type. */
  readonly command: string;
}

export interface Finding {
  readonly code: Code;
  readonly sentence: string;
  readonly evidence: readonly Evidence[];
  readonly hint: Hint;
}

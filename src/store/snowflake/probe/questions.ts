/** What a question to an account is, and what comes of it. */
import type { TableKind } from '../migrate.ts';
import type { Bench } from './bench.ts';

/** `fail`: a promise of FleetQ would not hold there. `warn`: it would, and something is worth knowing. */
export type ProbeVerdict = 'ok' | 'warn' | 'fail';

export interface Finding {
  readonly verdict: ProbeVerdict;
  /** What the account did. */
  readonly answer: string;
  /** What FleetQ makes of it. */
  readonly concludes: string;
  /** The same for programs. */
  readonly figures?: Readonly<Record<string, number | string | boolean | null>>;
}

export interface Question {
  readonly name: string;
  readonly asks: string;
  /** Not asked where the account has no such tables. */
  readonly of?: TableKind;
  /** A promise rests on it: without an answer it is as bad as a no. */
  readonly isNeeded?: boolean;
  ask(bench: Bench): Promise<Finding>;
}

export interface ProbeAnswer extends Finding {
  readonly name: string;
  readonly asks: string;
  readonly elapsedMs: number;
}

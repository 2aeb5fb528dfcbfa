/** What a crash test has found, as data and as text for whoever has to mend the machine. */
import type { Json } from '../ground/index.ts';
import type { Outcome } from '../machine/index.ts';

export type FaultKind =
  /** The process did not die where it was told to: the case shows nothing. */
  | 'void'
  /** What was durable is gone. */
  | 'lost'
  /** A phase was called again that was recorded, or more often than a crash explains. */
  | 'repeated'
  /** The run did not end. */
  | 'unended'
  | 'outcome'
  | 'output'
  /** The idempotency key or the fencing token of a phase is not what it has to be. */
  | 'key'
  | 'effects'
  /** A phase that was to be called `once` was called a second time after the crash. */
  | 'again'
  | 'verify';

export interface CrashFault {
  /** 'killed before record 3', … */
  readonly case: string;
  readonly kind: FaultKind;
  readonly message: string;
}

export interface CrashReport {
  /** 'charge@1'. */
  readonly machine: string;
  /** How it ends without a crash. */
  readonly outcome: Outcome;
  readonly output: Json | undefined;
  /** How many records it writes without a crash: it is killed before and after each. */
  readonly records: number;
  readonly cases: number;
  /** Processes that died by SIGKILL at their record. */
  readonly kills: number;
  readonly lost: number;
  /** Calls of a phase that no crash explains. */
  readonly repeated: number;
  /** Phases that were cut off before their record, and called once more: that is allowed. */
  readonly again: number;
  /** Phases that were cut off, and not called again, since `check` saw that it was done. */
  readonly handedOff: number;
  readonly faults: readonly CrashFault[];
}

const FAULTS_SHOWN_MAX = 10;

const REPEATED =
  'a phase that was killed before its record is called once more: let check see that it was done, ' +
  'or give its idempotencyKey to the other side (docs/how-to/write-idempotent-work.md)';

const HINTS: Readonly<Partial<Record<FaultKind, string>>> = {
  effects: REPEATED,
  again: REPEATED,
  output:
    'an output that differs from run to run can be compared in part: { comparable: (output) => … }',
  outcome:
    'an interruption costs an attempt, and cases must not meet in the world: give each an input of ' +
    'its own with input: ({ directory }) => …',
};

/** The account of what broke where. */
export function tellFaults({ machine, cases, faults }: CrashReport, keptAt?: string): string {
  const broken = [...new Set(faults.map((fault) => fault.case))];
  const told = broken
    .slice(0, FAULTS_SHOWN_MAX)
    .flatMap((name) => [
      `  ${name}`,
      ...faults
        .filter((fault) => fault.case === name)
        .map(({ kind, message }) => `    ${kind}: ${message.replaceAll('\n', '\n      ')}`),
    ]);
  const left = broken.length - FAULTS_SHOWN_MAX;
  return [
    `${machine} does not survive a crash: ${broken.length} of ${cases} cases broke`,
    ...told,
    ...(left > 0 ? [`  and ${left} more`] : []),
    ...(keptAt === undefined ? [] : [`  journals and ledgers are kept in ${keptAt}`]),
  ].join('\n');
}

export function hintFor(faults: readonly CrashFault[]): string | undefined {
  return faults.map(({ kind }) => HINTS[kind]).find((hint) => hint !== undefined);
}

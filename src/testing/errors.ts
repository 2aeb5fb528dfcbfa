/** What a test of a machine may come to, besides its report. */
import { FleetqError, type FleetqErrorOptions } from '../ground/index.ts';
import type { CrashReport } from './report.ts';

/** The test cannot be made: an argument, the module or the input is not what it has to be. */
export class CrashTestOptionsError extends FleetqError {
  readonly code = 'FLEETQ_CRASH_TEST_OPTIONS';
  readonly verdict = 'abort';
}

/** A machine that was killed did not end as it does without; the message says where and how. */
export class CrashTestError extends FleetqError {
  readonly code = 'FLEETQ_CRASH_TEST';
  readonly verdict = 'abort';
  /** What was found all the same; its `faults` are what the message tells. */
  readonly report: CrashReport;

  constructor(message: string, report: CrashReport, options?: FleetqErrorOptions) {
    super(message, options);
    this.report = report;
  }
}

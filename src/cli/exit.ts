/** What the exit code of `fleetq` means: scripts may rely on these numbers. */
export const Exit = {
  ok: 0,
  /** The command could not do what it was asked. */
  failure: 1,
  /** The command line, the configuration or the input is wrong. */
  usage: 2,
  /** There is no such run, task, pod, API or machine, or the list is empty. */
  nothingFound: 3,
  /** The run that was waited for failed, was aborted, timed out or was cancelled. */
  runFailed: 4,
  /** Nobody answers: the process that holds the data directory, or the store. */
  unreachable: 5,
  /** The tables of the store are missing, older or newer than this FleetQ wants them. */
  notMigrated: 6,
  /** What was waited for has not come within --timeout; it goes on. */
  timedOut: 7,
  doctorFoundProblems: 8,
  /** With these machines some runs in flight would not go on. */
  planFoundBlocked: 9,
  /** A defect of FleetQ, or an error that nobody caught. */
  internal: 70,
  /** A second Ctrl-C or SIGTERM: ended at once. */
  interrupted: 130,
  terminated: 143,
} as const;
export type ExitCode = (typeof Exit)[keyof typeof Exit];

const EXIT_OF_ERROR: Readonly<Record<string, ExitCode>> = {
  FLEETQ_USAGE: Exit.usage,
  FLEETQ_CONFIG: Exit.usage,
  FLEETQ_LOAD: Exit.usage,
  FLEETQ_DEFINITION: Exit.usage,
  FLEETQ_SCHEMA: Exit.usage,
  FLEETQ_BAD_REQUEST: Exit.usage,
  FLEETQ_NOT_JSON: Exit.usage,
  FLEETQ_BAD_FILTER: Exit.usage,
  FLEETQ_BAD_CURSOR: Exit.usage,
  FLEETQ_BAD_LINE: Exit.usage,
  FLEETQ_POD_TIMES: Exit.usage,
  FLEETQ_MACHINE_CHANGED: Exit.usage,
  FLEETQ_STORE_OPTIONS: Exit.usage,
  FLEETQ_FORK: Exit.usage,
  FLEETQ_NO_STORE: Exit.usage,
  FLEETQ_LISTEN_OPEN: Exit.usage,
  FLEETQ_TASK_NOT_FOUND: Exit.nothingFound,
  FLEETQ_BULK_NOT_FOUND: Exit.nothingFound,
  FLEETQ_SCHEDULE_NOT_FOUND: Exit.nothingFound,
  FLEETQ_BAD_SCHEDULE: Exit.usage,
  FLEETQ_POD_NOT_FOUND: Exit.nothingFound,
  FLEETQ_API_NOT_FOUND: Exit.nothingFound,
  FLEETQ_RUN_NOT_FOUND: Exit.nothingFound,
  FLEETQ_REGISTRY: Exit.nothingFound,
  FLEETQ_NO_JOURNAL: Exit.nothingFound,
  FLEETQ_JOURNAL_HELD: Exit.unreachable,
  FLEETQ_HANDOVER_TAKEN: Exit.unreachable,
  FLEETQ_UNREACHABLE: Exit.unreachable,
  FLEETQ_DRAINING: Exit.unreachable,
  FLEETQ_STORE_UNREACHABLE: Exit.unreachable,
  FLEETQ_STORE_BUSY: Exit.unreachable,
  FLEETQ_STORE_SCHEMA: Exit.notMigrated,
  FLEETQ_WAIT_TIMEOUT: Exit.timedOut,
  FLEETQ_ASSERTION: Exit.internal,
  FLEETQ_INTERNAL: Exit.internal,
};

export function exitOf(code: string): ExitCode {
  return EXIT_OF_ERROR[code] ?? Exit.failure;
}

export const EXIT_HELP = `
Exit codes:
  0 ok · 1 failed · 2 usage or input · 3 nothing found · 4 the run failed · 5 held or unreachable
  6 the store has to be migrated · 7 timed out · 8 doctor or probe found problems
  9 plan found blocked runs · 70 internal error · 130, 143 ended by a second signal
`;

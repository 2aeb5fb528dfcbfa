/** Errors as HTTP answers: problem+json (RFC 9457) with FleetQ's own code and hint. */
import { describeError, FleetqError } from '../ground/index.ts';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly hint?: string | undefined;
}

/** A request that cannot be answered as it was asked. */
export class RequestError extends FleetqError {
  readonly code: `FLEETQ_${string}`;
  readonly verdict = 'abort';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    status: number,
    code: `FLEETQ_${string}`,
    message: string,
    hint?: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message, { hint });
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

export const badRequest = (message: string, hint?: string) =>
  new RequestError(400, 'FLEETQ_BAD_REQUEST', message, hint);

const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  FLEETQ_BAD_FILTER: 400,
  FLEETQ_RUN_NOT_FOUND: 404,
  FLEETQ_TASK_NOT_FOUND: 404,
  FLEETQ_BULK_NOT_FOUND: 404,
  FLEETQ_SCHEDULE_NOT_FOUND: 404,
  FLEETQ_BAD_SCHEDULE: 422,
  FLEETQ_REGISTRY: 404,
  FLEETQ_SCHEMA: 422,
  FLEETQ_NOT_JSON: 422,
  FLEETQ_TOO_LARGE: 413,
  FLEETQ_KEY_CONFLICT: 409,
  FLEETQ_REQUEST_REUSED: 409,
  FLEETQ_NO_STORE: 409,
  FLEETQ_FORK: 409,
  FLEETQ_BAD_CURSOR: 400,
  FLEETQ_KEY_MISSING: 409,
  FLEETQ_SEAL_BROKEN: 409,
  FLEETQ_RUN_SET_ASIDE: 409,
  FLEETQ_RUN_DAMAGED: 409,
  FLEETQ_BROKEN_HISTORY: 409,
  FLEETQ_STORE_REFUSED: 422,
  FLEETQ_DRAINING: 503,
  FLEETQ_TOO_MANY_RUNS: 503,
  FLEETQ_JOURNAL_STALLED: 503,
  FLEETQ_STORE_UNREACHABLE: 503,
  FLEETQ_STORE_BUSY: 503,
  FLEETQ_STORE_SCHEMA: 503,
  FLEETQ_STORE_OPTIONS: 503,
};

const TITLE_OF_STATUS: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Not known',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  408: 'Too slow',
  409: 'Conflict',
  412: 'Changed meanwhile',
  413: 'Too large',
  414: 'Address too long',
  415: 'Not JSON',
  422: 'Does not fit',
  429: 'Too many',
  431: 'Headers too large',
  500: 'Internal error',
  503: 'Not now',
};

/** What a database says is for those who run it: it names tables, roles and values. */
const STORE_WORDS: Readonly<Record<string, readonly [detail: string, hint: string]>> = {
  FLEETQ_STORE_OPTIONS: [
    'the store does not let this process do that',
    'ask a process whose role in the store may; the log of this one has what was refused',
  ],
  FLEETQ_STORE_REFUSED: ['the store cannot hold or find this', 'the log of this process has why'],
  FLEETQ_STORE_SCHEMA: ['the tables are not as this version expects', 'run: fleetq migrate up'],
  FLEETQ_STORE_UNREACHABLE: ['the store did not answer', 'ask again in a while'],
  FLEETQ_STORE_BUSY: ['the store is busy', 'ask again in a while'],
};

/** Whether somebody else's words are in it, which the asker is not shown. */
export function isOfStore(thrown: unknown): boolean {
  return thrown instanceof FleetqError && thrown.cause !== undefined && thrown.code in STORE_WORDS;
}

export function problemOf(thrown: unknown): Problem {
  const known = thrown instanceof FleetqError ? thrown : undefined;
  const status =
    thrown instanceof RequestError ? thrown.status : ((known && STATUS_OF_CODE[known.code]) ?? 500);
  const code = known?.code ?? 'FLEETQ_INTERNAL';
  // What nobody has foreseen may say anything: the log has it, and the asker is told where to look.
  const isForeseen = known !== undefined && known.code !== 'FLEETQ_ASSERTION';
  const [said, hint] = (isOfStore(thrown) ? STORE_WORDS[code] : undefined) ?? [
    isForeseen ? describeError(thrown).message : 'a defect of this process',
    isForeseen ? known.hint : 'its log has what happened',
  ];
  return {
    type: `urn:fleetq:problem:${code}`,
    title: TITLE_OF_STATUS[status] ?? 'Error',
    status,
    detail: said,
    code,
    hint,
  };
}

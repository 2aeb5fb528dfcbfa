/** What can be said of a permit that was not given. */
import { FleetqError, showDuration } from '../ground/index.ts';

/** The phase was given up while it waited for leave to call. */
export class PermitAbortedError extends FleetqError {
  readonly code = 'FLEETQ_PERMIT_ABORTED';
  readonly verdict = 'retry';
  constructor(api: string, cause: unknown) {
    super(`gave up waiting for leave to call ${api}`, { cause });
  }
}

/** A throttle was defined, or is used, with something that cannot be. */
export class ThrottleOptionsError extends FleetqError {
  readonly code = 'FLEETQ_THROTTLE_OPTIONS';
  readonly verdict = 'abort';
  constructor(api: string, fault: string) {
    super(`throttle ${JSON.stringify(api)}: ${fault}`);
  }
}

/** A permit is not to be had soon: whoever wants it comes back later, and no attempt is counted. */
export abstract class PermitDelayedError extends FleetqError {
  readonly api: string;
  readonly delayMs: number;
  constructor(api: string, message: string, delayMs: number) {
    super(message, { hint: 'let it be thrown: the run waits and costs no attempt' });
    this.api = api;
    this.delayMs = delayMs;
  }
}

/** The wait will be long: the run gives its slot up and comes back. */
export class ThrottleParkedError extends PermitDelayedError {
  readonly code = 'FLEETQ_THROTTLE_PARKED';
  readonly verdict = 'retry';
  /** How long it has waited in place. */
  readonly waitedMs: number;
  constructor(api: string, why: string, delayMs: number, waitedMs: number) {
    super(api, `${api}: ${why}; next try in ${showDuration(delayMs)}`, delayMs);
    this.waitedMs = waitedMs;
  }
}

/** As many wait for a permit as may. */
export class ThrottleFullError extends PermitDelayedError {
  readonly code = 'FLEETQ_THROTTLE_FULL';
  readonly verdict = 'retry';
  constructor(api: string, waitingMax: number, delayMs: number) {
    super(api, `${waitingMax} calls wait for leave to call ${api}, which is the limit`, delayMs);
  }
}

/** The process is on its way out and begins no new calls. */
export class ThrottleDrainingError extends PermitDelayedError {
  readonly code = 'FLEETQ_THROTTLE_DRAINING';
  readonly verdict = 'retry';
  constructor(api: string) {
    super(api, `this process is draining and calls ${api} no more`, 0);
  }
}

/** The API answered that it has no room, over HTTP or in words of its own. */
export class ThrottleRefusedError extends PermitDelayedError {
  readonly code = 'FLEETQ_THROTTLE_REFUSED';
  readonly verdict = 'retry';
  /** What was answered. */
  readonly answer: unknown;
  /** The same, where it is a `Response`. */
  readonly response: Response | undefined;
  readonly status: number | undefined;
  constructor(api: string, answer: unknown, delayMs: number) {
    const status = statusIn(answer);
    const said = status === undefined ? 'that it has no room' : `${status}: it has no room`;
    super(api, `${api} answered ${said}`, delayMs);
    this.answer = answer;
    this.response = answer instanceof Response ? answer : undefined;
    this.status = status;
  }
}

/** What was answered is others', and so are its getters. */
function statusIn(answer: unknown): number | undefined {
  try {
    const { status } = Object(answer) as { readonly status?: unknown };
    return typeof status === 'number' ? status : undefined;
  } catch {
    return undefined;
  }
}

/** How many calls of external APIs may be out at once: found out, divided, and kept to. */

export type { Classify } from './answers/classify.ts';
export { classifyAnswer, classifyError, kindOfAbort } from './answers/classify.ts';
export { type CallOutcome, isCapacity } from './answers/outcome.ts';
export { notePostponement, type Postponement, postponementOf } from './answers/postponement.ts';
export { API_NAME, isApiName } from './api-name.ts';
export type { HeldPermit } from './call-permit.ts';
export type { Caller } from './caller.ts';
export {
  PermitAbortedError,
  ThrottleDrainingError,
  ThrottleFullError,
  ThrottleOptionsError,
  ThrottleParkedError,
  ThrottleRefusedError,
} from './errors.ts';
export { throttlesOf } from './exported.ts';
export {
  Chief,
  type ReportRow,
  SHARED_APIS_MAX,
  type Sight,
  toldOf,
  type Word,
} from './fleet/chief.ts';
export { firstShareOf, type Newcomer } from './fleet/first-share.ts';
export { FleetEstimate } from './fleet/fleet-estimate.ts';
export type { FleetShares } from './fleet/fleet-shares.ts';
export { Lease } from './fleet/lease.ts';
export { type ThrottleView, throttleViewOf } from './fleet/view.ts';
export { decodePublished, decodeReport, type FleetSum, type PublishedRow } from './fleet/wire.ts';
export { HEARD_BEATS, LEASE_BEATS, type PodReport, type Published } from './fleet/words.ts';
export { HybridLaw, LAW_NAMES, LAWS, type LawName } from './laws/index.ts';
export { type Permit, PermitPool } from './permits/permit-pool.ts';
export { policyOf, type ThrottleOptions, type ThrottlePolicy } from './policy.ts';
export { Throttle } from './throttle.ts';
export { defineThrottle, type ThrottleDefinition, Throttles } from './throttles.ts';

/** How many calls of external APIs may be out at once: found out, divided, and kept to. */

export type { Caller } from './caller.ts';
export type { Classify } from './classify.ts';
export { classifyAnswer, classifyError } from './classify.ts';
export {
  PermitAbortedError,
  ThrottleDrainingError,
  ThrottleFullError,
  ThrottleOptionsError,
  ThrottleParkedError,
  ThrottleRefusedError,
} from './errors.ts';
export { FleetEstimate, type PodReport, type Published } from './fleet-estimate.ts';
export { HybridLaw, LAW_NAMES, LAWS, type LawName } from './laws/index.ts';
export { Lease } from './lease.ts';
export type { CallOutcome } from './outcome.ts';
export { type Permit, PermitPool } from './permit-pool.ts';
export { policyOf, type ThrottleOptions, type ThrottlePolicy } from './policy.ts';
export { type Postponement, postponementOf } from './postponement.ts';
export { Throttle } from './throttle.ts';
export { defineThrottle, type ThrottleDefinition, Throttles } from './throttles.ts';

/** Limits on calls to external APIs. */
export { CONCURRENCY_MAX_DEFAULT, Limits, PermitAbortedError } from './limits.ts';

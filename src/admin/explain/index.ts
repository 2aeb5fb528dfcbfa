/** A run explained: why it is as it is, in sentences. */
export { CODES, type Code } from './codes.ts';
export { explain } from './explain.ts';
export type { Facts } from './facts.ts';
export type { Evidence, Finding, Hint } from './finding.ts';
export { factsOfRun, type GatherOptions, gatherTask } from './gather.ts';
export { time as timeText } from './words.ts';

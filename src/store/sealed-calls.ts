/** Which calls of a store a codec has to do with. */
import type { Store } from './store.ts';

/** The calls that carry texts of users. */
export type Sealing = Pick<
  Store,
  | 'beat'
  | 'enqueue'
  | 'claim'
  | 'held'
  | 'settle'
  | 'begin'
  | 'histories'
  | 'mirror'
  | 'take'
  | 'failHopeless'
  | 'find'
  | 'list'
  | 'watch'
  | 'act'
  | 'openReader'
  | 'beginBulk'
  | 'takeBulk'
  | 'saveBulk'
  | 'orderBulk'
  | 'changeSchedule'
  | 'dueSchedules'
  | 'tickSchedule'
>;

/** All others, said by name: whoever adds a call decides here whether it carries something. */
export const PASSING: Record<Exclude<keyof Store, keyof Sealing>, true> = {
  capabilities: true,
  checkSchema: true,
  mayChange: true,
  close: true,
  register: true,
  markDraining: true,
  requestDrain: true,
  pods: true,
  publishThrottles: true,
  throttles: true,
  changeThrottle: true,
  announce: true,
  abandoned: true,
  known: true,
  inFlight: true,
  census: true,
  hasSuspects: true,
  settled: true,
  archive: true,
  outlines: true,
  recordsIn: true,
  heads: true,
  restore: true,
  follow: true,
  worklist: true,
  fence: true,
  retire: true,
  hasHopeless: true,
  hasOld: true,
  prune: true,
  beginTerm: true,
  note: true,
  queues: true,
  pausedMachines: true,
  changeFlow: true,
  violations: true,
  listen: true,
  rest: true,
  mark: true,
  rise: true,
};

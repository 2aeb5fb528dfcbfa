/** What happens, as it happens: server-sent events over the journal of this process and the store. */

export { LiveHub, type LiveOptions } from './hub.ts';
export { numbered, placeIn } from './run-follower.ts';
export {
  journalSources,
  type LiveStore,
  type LocalRuns,
  type Sources,
  type StreamAsked,
  type View,
} from './sources.ts';

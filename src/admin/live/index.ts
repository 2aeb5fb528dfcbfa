/** What happens, as it happens: server-sent events over the journal of this process and the store. */
export { LiveHub, type LiveOptions, type StreamAsked } from './hub.ts';
export {
  journalSources,
  type LiveStore,
  type LocalRuns,
  type Sources,
  type View,
} from './sources.ts';

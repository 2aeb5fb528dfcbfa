/**
 * Every planted bug. Not among them are those of a flush without a fence: here the epoch in the key of a
 * segment keeps owners apart, and needs none.
 */
import type { Mutant } from './mutant.ts';
import { ACTS } from './plants-acts.ts';
import { CLAIMS } from './plants-claims.ts';
import { ENGINES } from './plants-engine.ts';
import { FAULTS } from './plants-faults.ts';
import { FENCES } from './plants-fences.ts';
import { FLOWS } from './plants-flow.ts';
import { GROWTH } from './plants-growth.ts';
import { HISTORIES } from './plants-history.ts';
import { JOURNALS } from './plants-journal.ts';
import { KEPT } from './plants-kept.ts';
import { LEAKS } from './plants-leaks.ts';
import { LIVES } from './plants-lives.ts';
import { NOTICES } from './plants-notices.ts';
import { PAGES } from './plants-pages.ts';
import { PAUSES } from './plants-pauses.ts';
import { PERSISTS } from './plants-persist.ts';
import { PODS } from './plants-pods.ts';
import { POSTGRES } from './plants-postgres.ts';
import { REWINDS } from './plants-rewinds.ts';
import { SALVAGES } from './plants-salvage.ts';
import { SETTLES } from './plants-settle.ts';
import { SHARES } from './plants-shares.ts';
import { STORMS } from './plants-storm.ts';
import { SWEEPS } from './plants-sweep.ts';
import { THROTTLE } from './plants-throttle.ts';
import { THROTTLE_SHARES } from './plants-throttle-shares.ts';
import { THROTTLE_WAITS } from './plants-throttle-waits.ts';
import { TOOLS } from './plants-tools.ts';
import { VERSIONS } from './plants-versions.ts';
import { WAITS } from './plants-waits.ts';

export const MUTANTS: readonly Mutant[] = [
  ...FAULTS,
  ...GROWTH,
  ...SHARES,
  ...NOTICES,
  ...FENCES,
  ...SETTLES,
  ...PERSISTS,
  ...HISTORIES,
  ...CLAIMS,
  ...SWEEPS,
  ...PODS,
  ...POSTGRES,
  ...LIVES,
  ...LEAKS,
  ...REWINDS,
  ...PAGES,
  ...JOURNALS,
  ...SALVAGES,
  ...ENGINES,
  ...TOOLS,
  ...WAITS,
  ...STORMS,
  ...VERSIONS,
  ...ACTS,
  ...FLOWS,
  ...PAUSES,
  ...THROTTLE,
  ...THROTTLE_SHARES,
  ...THROTTLE_WAITS,
  ...KEPT,
];

/** The rules of the history checker, all of them. What each says and shows is with it. */
import type { Rule } from './rule.ts';
import { countsAgree, interruptedCounts } from './rules-attempts.ts';
import {
  fencesHold,
  noEmptyRecord,
  notAgain,
  onceUnderOneEpoch,
  stableKeys,
  writeAhead,
} from './rules-effects.ts';
import { epochsRise, oneOutcome, oneOwner, settledByOwner } from './rules-owners.ts';
import {
  allEnded,
  cancelHolds,
  endsWell,
  nothingInvented,
  nothingLost,
  oneTaskPerKey,
} from './rules-queue.ts';
import { oneLine, prefixInStore, probedFirst, settledIsRecorded } from './rules-records.ts';
import { registerIsLinear } from './rules-register.ts';
import { conservation, orphansGoOn } from './rules-time.ts';

export const RULES: readonly Rule[] = [
  nothingLost,
  nothingInvented,
  oneTaskPerKey,
  allEnded,
  endsWell,
  cancelHolds,
  epochsRise,
  oneOwner,
  oneOutcome,
  settledByOwner,
  registerIsLinear,
  onceUnderOneEpoch,
  notAgain,
  writeAhead,
  noEmptyRecord,
  fencesHold,
  stableKeys,
  oneLine,
  prefixInStore,
  settledIsRecorded,
  probedFirst,
  countsAgree,
  interruptedCounts,
  conservation,
  orphansGoOn,
];

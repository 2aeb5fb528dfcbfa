/** For every rule, histories that it must refuse. */
import { BAD_EFFECTS } from './bad-effects.ts';
import type { BadHistories } from './bad-history.ts';
import { BAD_OWNERS } from './bad-owners.ts';
import { BAD_QUEUE } from './bad-queue.ts';
import { BAD_RECORDS } from './bad-records.ts';

export const BAD_HISTORIES: BadHistories = {
  ...BAD_QUEUE,
  ...BAD_OWNERS,
  ...BAD_EFFECTS,
  ...BAD_RECORDS,
};

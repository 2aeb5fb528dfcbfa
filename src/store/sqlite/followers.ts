/** Tasks that follow another: whoever ends that one lets them go, in the same transaction. */
import type { RunId } from '../../ground/index.ts';
import { type FollowsOn, followerBecomes } from '../follow.ts';
import { FOLLOWED_NOT_COMPLETED } from '../reasons.ts';
import type { TaskStatus } from '../words.ts';
import * as sql from './followers.sql.ts';
import type { Tx } from './session.ts';
import { endTask } from './tasks.sql.ts';

/** Of one run. */
const FOLLOWER_COUNT_MAX = 100_000;

interface Follower {
  readonly task_id: RunId;
  readonly follows_on: FollowsOn;
}

/** The run may have ended. True where a task waits no more for it. */
export function letFollowersGo(tx: Tx, run: string): boolean {
  const ended = [run];
  let isAny = false;
  // What ends here may be followed itself: each is looked at once.
  for (const next of ended) {
    const found = tx.all<Follower>(sql.selectFollowers, { run: next, count: FOLLOWER_COUNT_MAX });
    for (const { task_id: task, follows_on: on } of found) {
      const becomes = followerBecomes(on, followedOf(tx, next));
      if (becomes === 'wait') continue;
      isAny = true;
      if (becomes === 'go') {
        tx.run(sql.letGo, { task, now: tx.now });
        continue;
      }
      const cancelled = { status: 'cancelled', outcome: 'cancelled' };
      tx.get(endTask, { task, ...cancelled, error: FOLLOWED_NOT_COMPLETED, now: tx.now });
      ended.push(task);
    }
  }
  return isAny;
}

function followedOf(tx: Tx, run: string) {
  const row = tx.get<{ status: TaskStatus; discarded_at: number | null }>(sql.selectFollowed, {
    run,
  });
  return row && { status: row.status, isDiscarded: row.discarded_at !== null };
}

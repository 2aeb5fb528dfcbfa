/**
 * Tasks that follow another one. What becomes of a follower is a question of the row it follows, and of
 * nothing else, so it may be asked by anybody, at any time, and as often as one likes.
 */
import type { RunId } from '../ground/index.ts';
import { SPAN_MS_MAX } from './bounds.ts';
import type { TaskStatus } from './words.ts';

/** `success`: once that run has completed. `end`: once it has ended, however. */
export type FollowsOn = 'success' | 'end';
export const FOLLOWS_ON: readonly FollowsOn[] = ['success', 'end'];

export interface Follows {
  readonly run: string;
  readonly on: FollowsOn;
}

/** A task that follows a run, as whoever looks at that run sees it. */
export interface Follower {
  readonly run: RunId;
  readonly machine: string;
  readonly status: TaskStatus;
  readonly on: FollowsOn;
}

/** More of one run are not told, but that there are. */
export const FOLLOWERS_TOLD_MAX = 100;

/** Those that are told of a run; nothing where nobody follows it. */
export interface FollowersTold {
  readonly followers?: readonly Follower[] | undefined;
  readonly hasMoreFollowers?: true | undefined;
}

export async function followersTold(
  reader: { followers(run: RunId, countMax: number): Promise<Follower[]> },
  run: RunId,
): Promise<FollowersTold> {
  const found = await reader.followers(run, FOLLOWERS_TOLD_MAX + 1);
  if (found.length === 0) return {};
  const hasMore = found.length > FOLLOWERS_TOLD_MAX;
  const followers = found.slice(0, FOLLOWERS_TOLD_MAX);
  return { followers, hasMoreFollowers: hasMore ? true : undefined };
}

/** When a follower is due as long as it waits: never, that is, unless somebody says otherwise. */
export const FOLLOWER_DUE_MS = SPAN_MS_MAX / 2;

export interface Followed {
  readonly status: TaskStatus;
  readonly isDiscarded: boolean;
}

/**
 * `go`: it is due. `end`: what it waits for will never be. A dead letter may be redriven and complete yet,
 * so whoever wants its success waits for what people decide. One that is not there has ended, somehow.
 */
export function followerBecomes(
  on: FollowsOn,
  followed: Followed | undefined,
): 'go' | 'end' | 'wait' {
  if (followed === undefined) return on === 'end' ? 'go' : 'end';
  switch (followed.status) {
    case 'completed':
      return 'go';
    case 'cancelled':
      return on === 'end' ? 'go' : 'end';
    case 'failed':
      if (on === 'end') return 'go';
      return followed.isDiscarded ? 'end' : 'wait';
    default:
      return 'wait';
  }
}

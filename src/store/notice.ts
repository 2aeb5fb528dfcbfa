/**
 * Which pods a notification calls. A statement of every pod for every task is what a fleet cannot afford,
 * so a notification of a few tasks names a few pods by chance: the first look at once, the next soon after,
 * for the first may be full, stalled or dead, and the rest by their own ladders. Every pod hears all of it,
 * which costs no statement. Where it is not known which pods there are, or whether they have the routes, or
 * where there are many tasks, none is named, and every pod looks at once.
 *
 *   1 task, 32 pods    rank 0 ──▶ now    rank 1 ──▶ 30 ms    rank 2 ──▶ 90 ms    29 others ──▶ their ladders
 *   many tasks         every pod ──▶ now
 */
import type { Random } from '../ground/index.ts';
import type { PodId } from './words.ts';

export interface Notice {
  /** In the order in which they look. */
  readonly pods: readonly PodId[];
  /** So many of them look at once. */
  readonly atOnce: number;
}

/** What is known of tasks that are ready. Undefined: not known. */
export interface Ready {
  readonly count?: number | undefined;
  readonly routes?: readonly string[] | undefined;
}

/** Pods that are up and have the same routes. */
export interface PodGroup {
  readonly routes: readonly string[];
  /** Without those that cannot take anything now. */
  readonly pods: readonly PodId[];
}

/** A pod that looks at once is meant to take so many. */
const TASKS_OF_A_POD = 4;
/** So many pods look after those that look at once: the first two may both be unable to. */
const RESERVES = 2;
const RESERVE_MS = 30;
/** With more than this at once, all of them look. */
const AT_ONCE_MAX = 8;
/** Of more routes nothing is kept. */
const ROUTES_MAX = 16;

/** Undefined where every pod is to look at once. */
export function noticeOf(
  { count, routes }: Ready,
  groups: readonly PodGroup[],
  random: Random,
): Notice | undefined {
  if (count === undefined) return undefined;
  const able = podsWith(routes, groups);
  const wanted = Math.max(1, Math.ceil(count / TASKS_OF_A_POD));
  if (wanted > AT_ONCE_MAX || able.length === 0) return undefined;
  const atOnce = Math.min(wanted, able.length);
  return { pods: drawn(able, atOnce + RESERVES, random), atOnce };
}

/** In the order of the pods. */
export function groupsOf(
  pods: readonly { readonly podId: PodId; readonly routes: readonly string[] }[],
): PodGroup[] {
  const groups = new Map<string, { readonly routes: readonly string[]; readonly pods: PodId[] }>();
  for (const { podId, routes } of pods) {
    const key = routes.join(' ');
    const group = groups.get(key);
    if (group) group.pods.push(podId);
    else groups.set(key, { routes, pods: [podId] });
  }
  return [...groups.values()];
}

/** How long this pod waits before it looks; undefined where the notification leaves it to others. */
export function lookAfterMs({ pods, atOnce }: Notice, pod: PodId): number | undefined {
  const rank = pods.indexOf(pod);
  if (rank < 0) return undefined;
  return RESERVE_MS * (2 ** Math.max(0, rank - atOnce + 1) - 1);
}

/** Both at the same time: what is not known of one of them is not known of both. */
export function joined(one: Ready, other: Ready): Ready {
  const count =
    one.count === undefined || other.count === undefined ? undefined : one.count + other.count;
  const routes = one.routes && other.routes && [...new Set([...one.routes, ...other.routes])];
  return { count, routes: routes && routes.length > ROUTES_MAX ? undefined : routes };
}

/** As it is sent, behind the kind of the notification. */
export function wordsOf({ pods, atOnce }: Notice): string {
  return [atOnce, ...pods].join(' ');
}

/** Undefined where the words make no sense here: then every pod looks. */
export function noticeIn(words: string): Notice | undefined {
  const [first, ...pods] = words.split(' ');
  const atOnce = Number(first);
  if (!(atOnce >= 1) || pods.length === 0) return undefined;
  return { atOnce, pods: pods as PodId[] };
}

function podsWith(
  routes: readonly string[] | undefined,
  groups: readonly PodGroup[],
): readonly PodId[] {
  // Where all pods have the same routes, it need not be known which.
  if (routes === undefined) return groups.length === 1 ? groups[0]!.pods : [];
  return groups
    .filter((group) => routes.every((route) => group.routes.includes(route)))
    .flatMap(({ pods }) => pods);
}

function drawn(pods: readonly PodId[], count: number, random: Random): PodId[] {
  const left = [...pods];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const at = Math.floor(random.fraction() * left.length);
    return left.splice(at, 1)[0]!;
  });
}

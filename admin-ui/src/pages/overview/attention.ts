/**
 * What needs somebody: each with what it is, why it matters, and where to look. The worst first. Pure:
 * it is told what is known, and how much of it is too much.
 */
import { showSpan } from '../../format/time.ts';
import { plural } from '../../format/words.ts';
import type { Census, ErrorGroup, MachineRow, PodRow } from '../../services/fleet-types.ts';
import type { Run } from '../../services/types.ts';
import { stateOf } from '../pods/pod-state.ts';

export interface Known {
  readonly pods?: readonly PodRow[] | undefined;
  readonly hasLeader?: boolean | undefined;
  readonly census?: Census | undefined;
  readonly machines?: readonly MachineRow[] | undefined;
  /** Of the last hour. */
  readonly errors?: readonly ErrorGroup[] | undefined;
  readonly lettersLately?: number | undefined;
  /** Held for longer than that. */
  readonly slow?: readonly Run[] | undefined;
}

export interface Need {
  readonly level: 'bad' | 'wait';
  readonly what: string;
  readonly why: string;
  readonly to: string;
}

/** Due for longer than this, it is the queue and not the run. */
export const QUEUE_MS_MAX = 60_000;
export const SLOW_AFTER = '10m';
const NAMED_MAX = 3;

const listOf = (filter: string) => `/runs?q=${encodeURIComponent(filter)}`;
const byCount = (a: { readonly count: number }, b: { readonly count: number }) => b.count - a.count;

export function needsOf(known: Known): readonly Need[] {
  const all = [
    ...ofPods(known),
    ...ofOrphans(known),
    ...ofBlocked(known),
    ...ofFailures(known),
    ...ofLetters(known),
    ...ofQueue(known),
    ...ofSlow(known),
    ...ofRetention(known),
    ...ofVersions(known),
  ];
  return [
    ...all.filter(({ level }) => level === 'bad'),
    ...all.filter(({ level }) => level !== 'bad'),
  ];
}

function* ofPods({ pods, hasLeader }: Known): Iterable<Need> {
  if (!pods) return;
  const live = pods.filter((pod) => stateOf(pod) === 'up');
  // Where all that are there rest, there is nothing to do: the first task wakes them.
  const isAtRest = live.length === 0 && pods.some((pod) => stateOf(pod) === 'resting');
  if (live.length === 0 && !isAtRest) {
    const why = 'nothing is claimed until one comes';
    yield { level: 'bad', what: 'No pod is up', why, to: '/pods' };
  } else if (hasLeader === false && !isAtRest) {
    const isStalled = live.length > 0 && live.every(({ report }) => report?.stalled !== undefined);
    const why = isStalled
      ? 'no pod that is up can write its journal: look at the disks'
      : 'what dead pods held is rescued by nobody';
    yield { level: 'bad', what: 'Nobody leads', why, to: '/pods' };
  }
  for (const state of ['suspected', 'dead'] as const) {
    const found = pods.filter((pod) => stateOf(pod) === state);
    if (found.length === 0) continue;
    const held = found.reduce((sum, { claimCount }) => sum + claimCount, 0);
    const names = found.slice(0, NAMED_MAX).map(({ name }) => name);
    const is = `${found.length === 1 ? 'is' : 'are'} ${state === 'dead' ? 'dead' : 'silent'}`;
    yield {
      level: 'bad',
      what: `${plural(found.length, 'pod')} ${is}: ${listed(names, found.length)}`,
      why:
        held === 0 ? 'nothing is lost: they held no runs' : `${plural(held, 'run')} in their hands`,
      to: found.length === 1 ? `/pods/${encodeURIComponent(found[0]!.pod)}` : '/pods',
    };
  }
}

function* ofOrphans({ census }: Known): Iterable<Need> {
  if (!census || census.orphans === 0) return;
  const ago = census.orphansOldestMs;
  const heard = ago === undefined ? '' : `; the first owner was heard of ${showSpan(ago)} ago`;
  yield {
    level: 'bad',
    what: `${plural(census.orphans, 'run')} held by pods that are gone`,
    why: `the leader gives them back${heard}`,
    to: '/pods',
  };
}

function* ofBlocked({ machines = [] }: Known): Iterable<Need> {
  for (const { name, version, blocked = 0, why } of machines) {
    if (blocked === 0) continue;
    yield {
      level: 'bad',
      what: `${plural(blocked, 'run')} of ${name}@${version} blocked`,
      why: why ?? 'no pod that is up can go on with it',
      to: listOf(`machine:${JSON.stringify(name)} version:${version} is:blocked`),
    };
  }
}

function* ofFailures({ errors = [] }: Known): Iterable<Need> {
  const counts = new Map<string, { count: number; worst: ErrorGroup }>();
  for (const group of errors) {
    const { count = 0, worst = group } = counts.get(group.machine) ?? {};
    const next = group.count > worst.count ? group : worst;
    counts.set(group.machine, { count: count + group.count, worst: next });
  }
  const sums = [...counts].map(([machine, sum]) => ({ machine, ...sum })).sort(byCount);
  for (const { machine, count, worst } of sums.slice(0, NAMED_MAX)) {
    yield {
      level: 'bad',
      what: `${machine} failed ${count === 1 ? 'once' : `${count} times`} within the hour`,
      why: [worst.name, worst.message.split('\n')[0]].filter(Boolean).join(': '),
      to: listOf(`machine:${JSON.stringify(machine)} status:failed finished:<1h`),
    };
  }
}

function* ofLetters({ census, lettersLately = 0 }: Known): Iterable<Need> {
  const all = (census?.deadLetters ?? []).reduce((sum, { count }) => sum + count, 0);
  if (all === 0) return;
  yield {
    level: 'wait',
    what: `${plural(all, 'dead letter')}`,
    why: lettersLately > 0 ? `growing: ${lettersLately} within the hour` : 'none within the hour',
    to: listOf('is:dead-letter'),
  };
}

function* ofQueue({ census }: Known): Iterable<Need> {
  const old = (census?.routes ?? [])
    .filter(({ isLive, oldestMs = 0 }) => isLive && oldestMs > QUEUE_MS_MAX)
    .sort((a, b) => (b.oldestMs ?? 0) - (a.oldestMs ?? 0));
  for (const { route, machine, oldestMs = 0, pending } of old.slice(0, NAMED_MAX)) {
    yield {
      level: 'wait',
      what: `${route} is due for ${showSpan(oldestMs)}`,
      why: `${plural(pending, 'run')} pending: more slots or pods would help, or its limits hold it`,
      to: listOf(`machine:${JSON.stringify(machine)} status:pending`),
    };
  }
}

function* ofSlow({ slow = [] }: Known): Iterable<Need> {
  const [first] = slow;
  if (!first) return;
  yield {
    level: 'wait',
    what: `${plural(slow.length, 'run')} held for longer than ${SLOW_AFTER} without a change`,
    why: `the newest: ${first.machine}`,
    to:
      slow.length === 1
        ? `/runs/${encodeURIComponent(first.id)}`
        : listOf(`status:claimed updated:>${SLOW_AFTER}`),
  };
}

function* ofRetention({ pods = [] }: Known): Iterable<Need> {
  const lateMs = Math.max(0, ...pods.map(({ report }) => report?.retentionLateMs ?? 0));
  if (lateMs === 0) return;
  yield {
    level: 'wait',
    what: `Ended runs are removed ${showSpan(lateMs)} late`,
    why: 'the leader goes on until it has caught up; a sink that lags, or a slow server, holds it',
    to: '/pods',
  };
}

function* ofVersions({ pods = [] }: Known): Iterable<Need> {
  const live = pods.filter((pod) => stateOf(pod) === 'up');
  const versions = [...new Set(live.flatMap(({ report }) => report?.version ?? []))].sort();
  if (versions.length < 2) return;
  const why = 'fine during a deploy, and not for long';
  yield { level: 'wait', what: `Pods run FleetQ ${versions.join(' and ')}`, why, to: '/pods' };
}

function listed(names: readonly string[], count: number): string {
  return count > names.length
    ? `${names.join(', ')} and ${count - names.length} more`
    : names.join(', ');
}

/** A task that is due, and that pods which are up could take: why none of them has. */

import { type PodRow, routeOf, stallOf } from '../../store/index.ts';
import type { TaskFacts } from './facts.ts';
import type { Finding } from './finding.ts';
import { heldBack } from './held-back.ts';
import { dueEvidence } from './waits.ts';
import {
  ago,
  count,
  lasting,
  livePods,
  podEvidence,
  quoted,
  STALL_HINT,
  stallEvidence,
} from './words.ts';

/** An idle pod looks every second; a machine that is busy may take several. */
const OVERLOOKED_MS = 30_000;
const PODS_SHOWN_MAX = 5;

export function whenDue(facts: TaskFacts): Finding {
  const { row, now } = facts;
  const all = ableOf(facts);
  const able = all.filter(({ isStalled }) => !isStalled);
  if (all.length > 0 && able.length === 0) return stalled(all);
  if (able.length > 0 && able.every(({ desired }) => desired !== undefined)) {
    return leaving(facts, able);
  }
  if (able.length > 0 && able.every((pod) => roomOf(pod) === 0)) return full(facts, able);
  const isLate = now - row.runAt > OVERLOOKED_MS;
  const held = heldBack(facts, able, isLate);
  return held ?? (isLate ? overlooked(facts, able) : dueNow(facts, able));
}

/** With its version, or with a newer one that may be able to go on. */
function ableOf(facts: TaskFacts): PodRow[] {
  const { machine, version } = facts.row;
  const route = routeOf(facts.row);
  const live = livePods(facts);
  const own = live.filter(({ routes }) => routes.includes(route));
  if (own.length > 0) return own;
  const isNewer = (each: string) =>
    each.startsWith(`${machine}@`) && Number(each.slice(machine.length + 1)) > version;
  return live.filter(({ routes }) => routes.some(isNewer));
}

/** By its own word, with its last heartbeat; undefined where it has not said. */
function roomOf({ report }: PodRow): number | undefined {
  const { capacity, held } = Object(report) as { capacity?: unknown; held?: unknown };
  if (typeof capacity !== 'number' || typeof held !== 'number') return undefined;
  return Math.max(0, capacity - held);
}

function roomEvidence(pod: PodRow): Finding['evidence'][number] {
  const { capacity, held } = Object(pod.report) as { capacity?: unknown; held?: unknown };
  const room = roomOf(pod);
  const text =
    room === undefined
      ? `pod ${quoted(pod.name)} has not said how much room it has`
      : `pod ${quoted(pod.name)} holds ${held} and has room for ${capacity}`;
  return { text, pod: pod.pod, at: pod.beatAt };
}

function full(facts: TaskFacts, able: readonly PodRow[]): Finding {
  const { row, ahead } = facts;
  const before = ahead
    ? `${ahead.isExact ? '' : 'more than '}${count(ahead.count, 'task')} of ${routeOf(row)} ` +
      `${ahead.count === 1 && ahead.isExact ? 'is' : 'are'} ahead of it`
    : 'others are ahead of it';
  const are = able.length === 1 ? 'is' : 'are';
  const all = able.length === 1 ? 'the one pod' : `all ${able.length} pods`;
  return {
    code: 'queue-full',
    sentence: `It is due, and ${all} that could take it ${are} full: ${before}.`,
    evidence: [
      { text: `priority ${row.priority}, due ${ago(facts, row.runAt)}`, at: row.runAt },
      ...able.slice(0, PODS_SHOWN_MAX).map(roomEvidence),
    ],
    hint: { text: 'start more pods, or give them more slots', command: 'fleetq worker --slots …' },
  };
}

export function leaving(facts: TaskFacts, able: readonly PodRow[]): Finding {
  return {
    code: 'pods-leaving',
    sentence:
      `It is due, and ${able.length === 1 ? 'the one pod that is there is' : 'all pods are'} leaving: ` +
      'who drains takes nothing new.',
    evidence: able.slice(0, PODS_SHOWN_MAX).map((pod) => podEvidence(facts, pod)),
    hint: { text: 'start another pod', command: 'fleetq worker' },
  };
}

function stalled(all: readonly PodRow[]): Finding {
  const [first] = all;
  const who =
    all.length === 1 ? 'the one pod that could take it' : `each of the ${all.length} pods for it`;
  return {
    code: 'pods-stalled',
    sentence: `It is due, and ${who} cannot write its journal: ${quoted(first && stallOf(first))}.`,
    evidence: all.slice(0, PODS_SHOWN_MAX).map(stallEvidence),
    hint: STALL_HINT,
  };
}

function overlooked(facts: TaskFacts, able: readonly PodRow[]): Finding {
  return {
    code: 'overlooked',
    sentence:
      `It has been due for ${lasting(facts, facts.row.runAt)}, and ` +
      `${count(able.length, 'pod')} that could take it ${able.length === 1 ? 'has' : 'have'} not.`,
    evidence: [dueEvidence(facts.row.runAt), ...able.slice(0, PODS_SHOWN_MAX).map(roomEvidence)],
    hint: {
      text: 'look whether the store and its pods are well',
      command: 'fleetq doctor --store',
    },
  };
}

function dueNow(facts: TaskFacts, able: readonly PodRow[]): Finding {
  return {
    code: 'due',
    sentence:
      `It has been due for ${lasting(facts, facts.row.runAt)}, and ${count(able.length, 'pod')} that ` +
      `could take it ${able.length === 1 ? 'is' : 'are'} up: it is about to be claimed.`,
    evidence: [dueEvidence(facts.row.runAt), ...able.slice(0, PODS_SHOWN_MAX).map(roomEvidence)],
    hint: { text: 'wait for it', command: `fleetq wait ${facts.id}` },
  };
}

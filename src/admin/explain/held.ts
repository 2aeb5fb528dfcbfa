/** A task that a pod holds: whether that pod is at it, and what becomes of it where it is not. */

import { showDuration } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import { attemptOf, isFinal, placeIn } from '../../machine/index.ts';
import { leaderOf, type PodRow, stallOf } from '../../store/index.ts';
import type { Facts, TaskFacts } from './facts.ts';
import type { Evidence, Finding } from './finding.ts';
import { waitingRecord, waitOf } from './waits.ts';
import {
  ago,
  isSilent,
  lasting,
  podEvidence,
  podName,
  quoted,
  recordEvidence,
  STALL_HINT,
  silenceOf,
  stallEvidence,
  time,
} from './words.ts';

export function explainHeld(facts: TaskFacts): Finding[] {
  const { row, pods } = facts;
  const owner = pods.find(({ pod }) => pod === row.claimedBy);
  const isThere = owner?.status === 'up' || owner?.status === 'draining';
  if (!owner || !isThere) return [dead(facts, owner), ...sweepers(facts, owner)];
  if (isSilent(facts, owner)) return [silent(facts, owner, true), ...sweepers(facts, owner)];
  // Two heartbeats in five are missed: it may be nothing, and it is worth saying.
  if (owner.silentMs > silenceOf(facts, owner) / 2.5) return [silent(facts, owner, false)];
  if (owner.isStalled) return [stalled(facts, owner)];
  return [requested(facts, owner) ?? atIt(facts, owner)];
}

function dead(facts: TaskFacts, owner: PodRow | undefined): Finding {
  const { row } = facts;
  const state =
    owner?.deadAt === undefined ? 'is dead' : `has been dead for ${lasting(facts, owner.deadAt)}`;
  const by =
    owner && owner.deadBy === owner.pod
      ? 'it ended by its own word'
      : owner?.deadBy !== undefined
        ? `${podName(facts, owner.deadBy)} took it for dead`
        : 'nobody knows it any more';
  return {
    code: 'owner-dead',
    sentence:
      `${capital(podName(facts, row.claimedBy))}, which holds it, ${state} (${by}); ` +
      'a sweep gives it back to the fleet.',
    evidence: [claimEvidence(facts), ...(owner ? [podEvidence(facts, owner)] : [])],
    hint: { text: 'sweep now', command: 'fleetq sweep' },
  };
}

function silent(facts: TaskFacts, owner: PodRow, isOver: boolean): Finding {
  const leftMs = silenceOf(facts, owner) - owner.silentMs;
  const then = isOver
    ? 'that is long enough: the leader sweeps it now'
    : `if it stays silent it is swept in ${showDuration(leftMs)}`;
  return {
    code: 'owner-silent',
    sentence:
      `Pod ${quoted(owner.name)}, which holds it, has been silent for ` +
      `${showDuration(owner.silentMs)} of ${showDuration(silenceOf(facts, owner))}: ${then}.`,
    evidence: [claimEvidence(facts), podEvidence(facts, owner)],
    hint: { text: 'look at the pods', command: 'fleetq pods' },
  };
}

function stalled(facts: TaskFacts, owner: PodRow): Finding {
  return {
    code: 'owner-stalled',
    sentence:
      `Pod ${quoted(owner.name)}, which holds it, cannot write its journal: ` +
      `${quoted(stallOf(owner))}. It stands still meanwhile, and if that lasts another pod takes it.`,
    evidence: [claimEvidence(facts), stallEvidence(owner)],
    hint: STALL_HINT,
  };
}

/** Who would sweep it, where that is in question. */
function sweepers(facts: TaskFacts, owner: PodRow | undefined): Finding[] {
  const others = facts.pods.filter(({ pod }) => pod !== owner?.pod);
  const leader = leaderOf(others, facts.silentMs);
  if (!leader) {
    return [
      {
        code: 'no-leader',
        sentence: 'No pod is up that would sweep, so nothing is given back until one is.',
        evidence: facts.pods.slice(-3).map((row) => podEvidence(facts, row)),
        hint: { text: 'start a pod', command: 'fleetq worker' },
      },
    ];
  }
  const steadyAt = leader.bornAt + 2 * facts.silentMs;
  if (steadyAt <= facts.now) return [];
  return [
    {
      code: 'leader-not-steady',
      sentence:
        `Pod ${quoted(leader.name)} leads, and is too young to judge others: it sweeps from ` +
        `${time(steadyAt)} on, in ${showDuration(steadyAt - facts.now)}.`,
      evidence: [
        { text: `pod ${quoted(leader.name)} was born`, pod: leader.pod, at: leader.bornAt },
      ],
      hint: { text: 'who leads', command: 'fleetq leader' },
    },
  ];
}

function requested(facts: TaskFacts, owner: PodRow): Finding | undefined {
  const { row, deeds, id } = facts;
  if (row.control === undefined) return undefined;
  const deed = deeds.find(({ what }) => what === row.control);
  const who = deed
    ? `${quoted(deed.who)} asked for it ${ago(facts, deed.at)}`
    : 'somebody asked for it';
  const what = row.control === 'cancel' ? 'cancelled' : 'paused';
  const state = stateIn(facts);
  const inside = state
    ? ` it is inside ${state}, and stops when that is over`
    : ' it has yet to hear of it';
  return {
    code: row.control === 'cancel' ? 'cancel-requested' : 'pause-requested',
    sentence: `It is about to be ${what}: ${who}, and pod ${quoted(owner.name)} holds it;${inside}.`,
    evidence: [
      ...(deed ? [{ text: `${row.control} by ${quoted(deed.who)}`, at: deed.at }] : []),
      claimEvidence(facts),
      podEvidence(facts, owner),
    ],
    hint: { text: 'follow it', command: `fleetq events ${id} --follow` },
  };
}

function atIt(facts: TaskFacts, owner: PodRow): Finding {
  const last = facts.records.at(-1);
  if (last && isFinal(last.state)) return endNotSettled(facts, last, owner);
  const wait = waitingRecord(facts.records);
  const dueAt = wait && 'dueAt' in wait.event ? wait.event.dueAt : undefined;
  const waiting = dueAt !== undefined && dueAt > facts.now ? waitOf(facts, dueAt) : undefined;
  return (
    waiting ??
    running(facts, podName(facts, owner.pod), [claimEvidence(facts), podEvidence(facts, owner)])
  );
}

/** Being executed, by whom is said. */
export function running(facts: Facts, by: string, evidence: readonly Evidence[]): Finding {
  const { records, id, run } = facts;
  const last = records.at(-1);
  const state = stateIn(facts) ?? run?.state;
  const at = last?.at ?? facts.row?.updatedAt ?? facts.now;
  const attempt = last ? attemptOf(records) : (run?.attempt ?? 1);
  const where = state ? `in ${state}, attempt ${attempt}` : 'and has sent no records yet';
  return {
    code: 'running',
    sentence: `It is running: ${by} has been at it for ${lasting(facts, at)}, ${where}.`,
    evidence: [
      ...(last ? [recordEvidence(last, `${last.event.type} led to ${last.state}`)] : []),
      ...evidence,
    ],
    hint: { text: 'follow it', command: `fleetq events ${id} --follow` },
  };
}

function endNotSettled(facts: TaskFacts, last: StoredRecord, owner: PodRow): Finding {
  return {
    code: 'end-not-settled',
    sentence:
      `Its last record says that it has ${last.state === 'failed' ? 'failed' : `ended (${last.state})`}, ` +
      `and pod ${quoted(owner.name)} has yet to settle that.`,
    evidence: [recordEvidence(last, last.event.type), claimEvidence(facts)],
    hint: { text: 'wait for it', command: `fleetq wait ${facts.id}` },
  };
}

/** The phase it is in, by its records. */
function stateIn({ records }: Facts): string | undefined {
  const state = records.at(-1)?.state;
  return state !== undefined && placeIn(state).step !== '' ? state : undefined;
}

function claimEvidence(facts: TaskFacts): Evidence {
  const { row } = facts;
  const text = `claimed by ${podName(facts, row.claimedBy)}, claim ${row.claims}`;
  return { text, pod: row.claimedBy, epoch: row.epoch, at: row.updatedAt };
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A run of one host, as its journal has it: no pod but its own goes on with it. */
import { assert, showDuration } from '../../ground/index.ts';
import { explainEnd } from './ended.ts';
import type { Facts } from './facts.ts';
import type { Finding } from './finding.ts';
import { running } from './held.ts';
import { waitOf } from './waits.ts';
import { lasting, quoted } from './words.ts';

export function explainLocal(facts: Facts): Finding[] {
  return [...(facts.away ? [storeAway(facts, facts.away)] : []), ...ofJournal(facts)];
}

function ofJournal(facts: Facts): Finding[] {
  const { run, isHeld } = facts;
  assert(run !== undefined, 'what is explained is known to a journal or to the store');
  const { finishedAt, outcome, startedAt, error: failure, reason } = run;
  if (finishedAt !== undefined && outcome !== undefined) {
    return explainEnd(facts, { outcome, startedAt, finishedAt, failure, reason });
  }
  if (run.status === 'quarantined') return [quarantined(facts)];
  const waiting =
    run.dueAt !== undefined && run.dueAt > facts.now ? waitOf(facts, run.dueAt) : undefined;
  if (!isHeld) return [noProcess(facts), ...(waiting ? [waiting] : [])];
  if (run.status === 'blocked') return [blocked(facts)];
  return [waiting ?? running(facts, 'the process that holds its journal', [])];
}

function storeAway({ run }: Facts, { aloneMs }: NonNullable<Facts['away']>): Finding {
  const isClaimed = run?.generation !== undefined;
  const since =
    aloneMs === undefined
      ? 'the deadline of its pod has not passed yet'
      : `its pod has been alone for ${showDuration(aloneMs)} past its deadline`;
  const then = isClaimed
    ? 'no phase of it begins past the deadline, unless its machine is autonomous, and what is ' +
      'recorded waits in this journal'
    : 'it was started on this host and goes on; the fleet sees it once the store is back';
  return {
    code: 'store-away',
    sentence: `The store does not answer, and ${since}: ${then}.`,
    evidence: [{ text: `its last record here is ${run?.seq}`, seq: run?.seq, at: run?.updatedAt }],
    hint: { text: 'look at the way to the store', command: 'fleetq doctor --store' },
  };
}

function quarantined({ run }: Facts): Finding {
  const why = quoted(run?.reason ?? 'its records are damaged');
  return {
    code: 'quarantined',
    sentence: `It is quarantined, and nobody goes on with it: ${why}.`,
    evidence: [],
    hint: { text: 'look at the whole journal', command: 'fleetq journal verify' },
  };
}

function blocked({ run }: Facts): Finding {
  return {
    code: 'waiting-for-version',
    sentence: `It waits for its version: ${quoted(run?.reason ?? 'its machine is not here')}.`,
    evidence: [{ text: `it is of ${run?.machine}@${run?.version}, in ${run?.state}` }],
    hint: { text: 'what is in the way', command: 'fleetq plan' },
  };
}

function noProcess(facts: Facts): Finding {
  const { run } = facts;
  const at = run?.updatedAt ?? facts.now;
  return {
    code: 'no-process',
    sentence:
      `No process holds its journal, so nobody goes on with it: it has stood in ${run?.state} for ` +
      `${lasting(facts, at)}, and goes on by itself when one does.`,
    evidence: [{ text: `its last record is ${run?.seq}`, seq: run?.seq, at }],
    hint: { text: 'start a process with that data directory', command: 'fleetq worker' },
  };
}

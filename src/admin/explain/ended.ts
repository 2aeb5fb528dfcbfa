/** How a run has ended, why, and what can still be done about it. */
import { attemptOf, isFinal } from '../../machine/index.ts';
import { BULK_MACHINE, CRASHES_MAX } from '../../store/index.ts';
import type { Code } from './codes.ts';
import type { Facts } from './facts.ts';
import type { Evidence, Finding, Hint } from './finding.ts';
import { ago, codeOf, count, failureText, lasting, quoted, recordEvidence } from './words.ts';

/** What is told of an end, by whichever place knows of it. */
export interface End {
  readonly outcome: string;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly failure: unknown;
  readonly reason: string | undefined;
}

interface Told {
  readonly code: Code;
  readonly sentence: string;
  readonly hint: Hint;
}

export function explainEnd(facts: Facts, end: End): Finding[] {
  const { row, deeds, id } = facts;
  const found: Finding = { ...toldOf(facts, end), evidence: evidenceOf(facts, end) };
  if (row?.discardedAt === undefined) return [found];
  const deed = deeds.find(({ what }) => what === 'discard');
  return [
    found,
    {
      code: 'discarded',
      sentence: `It was put away by ${deed ? quoted(deed.who) : 'somebody'}: it is no dead letter any more.`,
      evidence: [{ text: 'discarded', at: row.discardedAt }],
      hint: { text: 'try it again all the same', command: `fleetq dead-letters redrive ${id}` },
    },
  ];
}

/** What the store, or a pod that could not even begin, has written as the error. */
const BY_ERROR: Readonly<Record<string, Code>> = {
  FLEETQ_RETRIES_SPENT: 'retries-spent',
  FLEETQ_CRASH_LOOP: 'crash-loop',
  FLEETQ_MACHINE_UNKNOWN: 'machine-unknown',
  FLEETQ_ID_MALFORMED: 'row-refused',
  FLEETQ_ROW_REFUSED: 'row-refused',
  FLEETQ_SCHEMA: 'row-refused',
  FLEETQ_NOT_JSON: 'row-refused',
  FLEETQ_DEADLINE_PASSED: 'timed-out',
  FLEETQ_QUARANTINED: 'quarantined',
};

function toldOf(facts: Facts, end: End): Told {
  const { id } = facts;
  const { outcome, failure, finishedAt, startedAt } = end;
  const then = ago(facts, finishedAt);
  const again = redriveHint(facts);
  const look = { text: 'what it put out', command: `fleetq run ${id}` };
  const said = failureText(failure);
  const byError = outcome === 'exhausted' ? undefined : BY_ERROR[codeOf(failure) ?? ''];
  if (byError && outcome !== 'completed' && outcome !== 'handedOff') {
    return { code: byError, sentence: `It failed ${then}: ${said}.`, hint: again };
  }
  const where = endedIn(facts);
  switch (outcome) {
    case 'completed': {
      const took = lasting({ ...facts, now: finishedAt }, startedAt);
      return { code: 'completed', sentence: `It completed ${then}, after ${took}.`, hint: look };
    }
    case 'handedOff':
      return { code: 'handed-off', sentence: handedOff(end, where, then), hint: look };
    case 'cancelled':
      return { code: 'cancelled', sentence: cancelled(facts, end, then), hint: again };
    case 'timedOut':
      return {
        code: 'timed-out',
        sentence: `It passed its deadline ${then}, ${where}: ${said}.`,
        hint: again,
      };
    case 'crashLoop':
      return {
        code: 'crash-loop',
        sentence: `It failed ${then}: ${CRASHES_MAX} processes died while it ran, ${where}.`,
        hint: { text: 'where they died', command: `fleetq events ${id} --trace` },
      };
    case 'exhausted':
      return exhausted(facts, end, then);
    default:
      return { code: 'aborted', sentence: aborted(facts, end, then), hint: again };
  }
}

function handedOff({ reason }: End, where: string, then: string): string {
  const why = reason ? quoted(reason) : 'without a reason';
  return `It was handed off ${then}, ${where}: check said that nothing was to be done (${why}).`;
}

function cancelled(facts: Facts, { failure, reason }: End, then: string): string {
  const deed = facts.deeds.find(({ what }) => what === 'cancel');
  const who = deed ? ` by ${quoted(deed.who)}` : '';
  const said = reason ?? (failure === undefined ? '' : failureText(failure));
  return `It was cancelled${who} ${then}: ${said ? quoted(said) : 'without a reason'}.`;
}

function exhausted(facts: Facts, { failure }: End, then: string): Told {
  const { records, row } = facts;
  const hint = redriveHint(facts);
  const said = failureText(failure);
  if (codeOf(failure) === 'FLEETQ_RETRIES_SPENT') {
    const most = row?.retriesMax === undefined ? '' : `, which is ${row.retriesMax}`;
    return { code: 'retries-spent', sentence: `It failed ${then}: ${said}${most}.`, hint };
  }
  const attempts = records.length > 0 ? ` after ${count(attemptOf(records), 'attempt')}` : '';
  const sentence = `It failed for good ${then}, ${endedIn(facts)}${attempts}; the last said: ${said}.`;
  return { code: 'exhausted', sentence, hint };
}

function aborted(facts: Facts, { failure, reason }: End, then: string): string {
  const last = facts.records.at(-1)?.event;
  const told = last?.type === 'ABORTED' ? last.kind : (Object(failure) as { kind?: unknown }).kind;
  const kind = told === 'user' || told === 'system' ? ` (${told})` : '';
  const said = reason ? quoted(reason) : failureText(failure);
  return `It was aborted${kind} ${then}, ${endedIn(facts)}: ${said}.`;
}

/** The phase that was its last. */
function endedIn({ records, run }: Facts): string {
  const state = records.at(-2)?.state ?? (records.length === 0 ? run?.state : undefined);
  return state ? `in ${state}` : 'before any phase was recorded';
}

function evidenceOf({ records, row }: Facts, { finishedAt, outcome }: End): Evidence[] {
  const last = records.at(-1);
  const told = last && recordEvidence(last, `${last.event.type} led to ${last.state}`);
  // Where its own last record tells the end, the row has nothing to add.
  if (last && told && isFinal(last.state)) return [told];
  return [
    ...(told ? [told] : []),
    { text: `ended as ${outcome}`, at: finishedAt, epoch: row?.epoch },
  ];
}

/** A local run is never redriven: it is started again. Nor is a shift: its operation has another made. */
function redriveHint({ id, row, run }: Facts): Hint {
  if (row?.machine === BULK_MACHINE) {
    return { text: 'its operation goes on with bulk resume', command: 'fleetq bulk list' };
  }
  if (row && row.pinnedTo === undefined) {
    return row.status === 'failed'
      ? { text: 'try it again', command: `fleetq dead-letters redrive ${id}` }
      : { text: 'its records', command: `fleetq events ${id}` };
  }
  const machine = row?.machine ?? run?.machine ?? '…';
  return { text: 'start another', command: `fleetq start ${machine} --input …` };
}

/**
 * Why phases ran more than once: told by the records, each of which says what came of the phase that
 * the one before it had entered. What happened to one phase for one reason is one finding, however
 * often it did.
 */
import { showDuration } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import { placeIn } from '../../machine/index.ts';
import type { Code } from './codes.ts';
import type { Facts } from './facts.ts';
import type { Evidence, Finding } from './finding.ts';
import { count, failureText, podName, quoted, recordEvidence } from './words.ts';

/** Of one reason, the last of them tell enough. */
const SHOWN_MAX = 5;
/** Of a run that was retried for weeks. */
const FINDINGS_MAX = 20;

interface Again {
  readonly code: Code;
  /** The phase that is done again; or what is asked before it. */
  readonly what: string;
  readonly why: string;
  readonly evidence: Evidence;
}

export function explainPast(facts: Facts): Finding[] {
  const groups = new Map<string, Again[]>();
  for (const again of againsIn(facts)) {
    const name = `${again.code} ${again.what}`;
    const group = groups.get(name);
    if (group) group.push(again);
    else groups.set(name, [again]);
  }
  return [...groups.values()].slice(-FINDINGS_MAX).map((group) => findingOf(facts, group));
}

function findingOf({ id }: Facts, group: readonly Again[]): Finding {
  const last = group.at(-1)!;
  const times = group.length === 1 ? '' : `, ${count(group.length, 'time')}`;
  return {
    code: last.code,
    sentence: `${last.what} ${VERB[last.code] ?? 'ran again'}${times}: ${last.why}.`,
    evidence: group.slice(-SHOWN_MAX).map(({ evidence }) => evidence),
    hint: { text: 'all of it, drawn', command: `fleetq events ${id} --trace` },
  };
}

const VERB: Partial<Record<Code, string>> = { 'probe-handed-off': 'was not done again' };

function againsIn(facts: Facts): Again[] {
  const { records } = facts;
  const found: Again[] = [];
  // Once for all of them: a run may have very many records.
  const states = new Set(records.map(({ state }) => state));
  let isAsking = false;
  for (let index = 1; index < records.length; index++) {
    const [before, record] = [records[index - 1]!, records[index]!];
    const again = againOf(facts, index, isAsking);
    if (again) found.push(again);
    isAsking = asksCheck(isAsking, before, record, states);
  }
  return found;
}

/** Whether `check` is asked before the phase is done again: then what fails next is that question. */
function asksCheck(
  isAsking: boolean,
  before: StoredRecord,
  { event, state }: StoredRecord,
  states: ReadonlySet<string>,
): boolean {
  const { step, phase } = placeIn(state);
  if (phase !== 'work' && phase !== 'persist') return false;
  if (!states.has(`${step}.check`)) return false;
  switch (event.type) {
    case 'FAILED':
    case 'POSTPONED':
    case 'INTERRUPTED':
      return true;
    case 'TAKEN':
    case 'ADVANCED':
      return isAsking || event.interruption === 'left';
    default:
      return isAsking && before.state === state && event.type !== 'PROBED';
  }
}

function noRoom(
  what: string,
  from: string,
  record: StoredRecord,
  api: string,
  reason: string,
): Again {
  const why = `the API ${quoted(api)} had no room for it (${quoted(reason)}), which cost no attempt`;
  const evidence = recordEvidence(record, `${from} had no leave to call`);
  return { code: 'phase-throttled', what, why, evidence };
}

function againOf(facts: Facts, index: number, isAsking: boolean): Again | undefined {
  const { records } = facts;
  const [{ state: from }, record] = [records[index - 1]!, records[index]!];
  const { event } = record;
  const what = isAsking ? `${placeIn(from).step}.check, asked before ${from},` : from;
  switch (event.type) {
    case 'FAILED': {
      const said = failureText(event.error);
      const evidence = recordEvidence(record, `${from} failed: ${said}`);
      if (placeIn(from).phase === 'validate') {
        const why = `${from} rejected what it did (${said})`;
        return { code: 'validate-rejected', what: record.state, why, evidence };
      }
      return {
        code: 'error-retried',
        what,
        why: `it threw, and was tried again (${said})`,
        evidence,
      };
    }
    case 'POSTPONED': {
      if (event.api !== undefined) return noRoom(what, from, record, event.api, event.reason);
      const why = `it asked to be called again later (${quoted(event.reason)})`;
      return {
        code: 'phase-postponed',
        what,
        why,
        evidence: recordEvidence(record, `${from} put itself off`),
      };
    }
    case 'HANDED_OFF': {
      if (!['work', 'persist'].includes(placeIn(from).phase)) return undefined;
      const said = event.reason ? ` (${quoted(event.reason)})` : '';
      const why = `check, asked first, found that it had happened${said}`;
      return {
        code: 'probe-handed-off',
        what: from,
        why,
        evidence: recordEvidence(record, 'check handed off'),
      };
    }
    case 'INTERRUPTED':
      return event.isFree ? drained(facts, index) : died(facts, index);
    case 'TAKEN':
    case 'ADVANCED':
      return taken(facts, index);
    default:
      return undefined;
  }
}

/** What it says is counted by the record behind it, where there is one. */
function taken(facts: Facts, index: number): Again | undefined {
  const { records } = facts;
  const { event } = records[index]!;
  if (event.type !== 'TAKEN' && event.type !== 'ADVANCED') return undefined;
  if (placeIn(records[index]!.state).step === '') return undefined;
  if (event.interruption === 'left') {
    return isFreeInterruption(records[index - 1]!) ? undefined : drained(facts, index);
  }
  return event.interruption === 'cut' && index === records.length - 1
    ? died(facts, index)
    : undefined;
}

function isFreeInterruption({ event }: StoredRecord): boolean {
  return event.type === 'INTERRUPTED' && event.isFree === true;
}

function drained(facts: Facts, index: number): Again {
  const record = facts.records[index]!;
  const owner = podName(facts, ownerBefore(facts, index));
  const why = `${owner} drained, and could not wait for it`;
  const evidence = recordEvidence(record, `${owner} let go of ${record.state}`);
  return { code: 'drained-inside', what: record.state, why, evidence };
}

function died(facts: Facts, index: number): Again {
  const { records, row } = facts;
  const record = records[index]!;
  const last = records.slice(0, index).findLast((each) => !isTaking(each)) ?? record;
  const id = ownerBefore(facts, index);
  const owner = podName(facts, id);
  const lived = row !== undefined && id !== undefined && livedOn(facts, id);
  const epochs = `epoch ${last.epoch} → ${record.epoch}`;
  const then = probed(records, index)
    ? '; check was asked first, and said that it had not happened'
    : '';
  const goneBy = lived ? 'lost its claim inside it, and lived on' : 'died inside it';
  const gap = `${showDuration(Math.max(0, record.at - last.at))} later`;
  const evidence = recordEvidence(record, `after record ${last.seq}, ${gap}, ${epochs}`);
  return {
    code: lived ? 'claim-lost' : 'process-died',
    what: record.state,
    why: `${owner} ${goneBy} (${epochs})${then}`,
    evidence: { ...evidence, pod: id },
  };
}

/** A process that finds itself dead registers anew, with the journal that it has open. */
function livedOn({ pods }: Facts, id: string): boolean {
  const was = pods.find(({ pod }) => pod === id);
  if (!was || was.deadBy === undefined || was.deadBy === id) return false;
  return pods.some(
    ({ pod, journal, boot }) => pod !== id && journal === was.journal && boot === was.boot,
  );
}

function probed(records: readonly StoredRecord[], index: number): boolean {
  return records[index + 1]?.event.type === 'PROBED';
}

/** Who had it when that happened; where its successor has recorded it, whoever had it before that one. */
function ownerBefore({ records }: Facts, index: number): string | undefined {
  const { epoch } = records[index]!;
  const isOfSuccessor = [records[index - 1]!, records[index]!].some(isTaking);
  const owned = records
    .slice(0, index + 1)
    .findLast((each) => ownerIn(each) !== undefined && (!isOfSuccessor || each.epoch < epoch));
  return owned && ownerIn(owned);
}

function isTaking({ event }: StoredRecord): boolean {
  return event.type === 'TAKEN' || event.type === 'ADVANCED';
}

function ownerIn({ event }: StoredRecord): string | undefined {
  return 'pod' in event ? event.pod : undefined;
}

/** A run that nobody has to go on with before a time: which one, and why. Told by its last records. */
import type { StoredRecord } from '../../journal/index.ts';
import { attemptOf, placeIn } from '../../machine/index.ts';
import type { Facts } from './facts.ts';
import type { Evidence, Finding } from './finding.ts';
import { ago, failureText, quoted, recordEvidence, time, within } from './words.ts';

/** The record that says what it waits for; whoever took it since has changed nothing about that. */
export function waitingRecord(records: readonly StoredRecord[]): StoredRecord | undefined {
  const last = records.findLast(({ event }) => !['ADVANCED', 'TAKEN'].includes(event.type));
  return last && 'dueAt' in last.event ? last : undefined;
}

/** Undefined where its records tell of no wait. */
export function waitOf(facts: Facts, dueAt: number): Finding | undefined {
  const record = waitingRecord(facts.records);
  switch (record?.event.type) {
    case 'FAILED':
      return backingOff(facts, record, dueAt);
    case 'POSTPONED':
      return postponed(facts, record, dueAt);
    case 'ASLEEP':
      return sleeping(facts, record, dueAt);
    default:
      return undefined;
  }
}

function backingOff(facts: Facts, record: StoredRecord, dueAt: number): Finding {
  const { records, attemptMax } = facts;
  const failed = attemptOf(records.slice(0, records.indexOf(record) + 1)) - 1;
  const of = attemptMax === undefined ? '' : ` of ${attemptMax}`;
  const error = 'error' in record.event ? record.event.error : undefined;
  const state = records[records.indexOf(record) - 1]?.state ?? record.state;
  return {
    code: 'backing-off',
    sentence:
      `It backs off: attempt ${failed}${of} of ${state} failed ${ago(facts, record.at)} ` +
      `(${failureText(error)}), and the next is due ${within(facts, dueAt)}.`,
    evidence: [
      recordEvidence(record, `${state} failed: ${failureText(error)}`),
      dueEvidence(dueAt),
    ],
    hint: nowHint(facts),
  };
}

/** An API had no room for it, or all leave to call it was given to others. */
function throttled(facts: Facts, record: StoredRecord, api: string, dueAt: number): Finding {
  const reason = 'reason' in record.event ? quoted(record.event.reason) : '';
  return {
    code: 'throttled',
    sentence:
      `It waits for the API ${quoted(api)}: when ${record.state} was to call it ${ago(facts, record.at)}, ` +
      `there was no room (${reason || 'without a reason'}); it goes on ${within(facts, dueAt)}, ` +
      'and no attempt was counted.',
    evidence: [recordEvidence(record, `${record.state} had no leave to call`), dueEvidence(dueAt)],
    hint: { text: 'how the API is', command: `fleetq throttles show ${shellWord(api)}` },
  };
}

export function shellWord(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function postponed(facts: Facts, record: StoredRecord, dueAt: number): Finding {
  const api = 'api' in record.event ? record.event.api : undefined;
  if (api !== undefined) return throttled(facts, record, api, dueAt);
  const reason = 'reason' in record.event ? quoted(record.event.reason) : '';
  return {
    code: 'postponed',
    sentence:
      `It waits by its own wish: ${record.state} asked to be called again later ` +
      `(${reason || 'without a reason'}), which is ${within(facts, dueAt)}.`,
    evidence: [recordEvidence(record, `${record.state} put itself off`), dueEvidence(dueAt)],
    hint: nowHint(facts),
  };
}

function sleeping(facts: Facts, record: StoredRecord, dueAt: number): Finding {
  const { step } = placeIn(record.state);
  return {
    code: 'sleeping',
    sentence: `It sleeps, as its line says: ${step} is over ${within(facts, dueAt)}.`,
    evidence: [recordEvidence(record, `${step} began`), dueEvidence(dueAt)],
    hint: { text: 'its records', command: `fleetq events ${facts.id}` },
  };
}

export function dueEvidence(dueAt: number): Evidence {
  return { text: `due at ${time(dueAt)}`, at: dueAt };
}

/** Only a task of the fleet can be told to go on now. */
export function nowHint({ id, row }: Facts): Finding['hint'] {
  return row && row.pinnedTo === undefined
    ? { text: 'go on now', command: `fleetq retry ${id}` }
    : { text: 'its records', command: `fleetq events ${id}` };
}

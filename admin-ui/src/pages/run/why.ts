/** One sentence for each record: what happened, and why the run is where it is then. Pure. */
import { showSpan } from '../../format/time.ts';
import { plural, showBytes } from '../../format/words.ts';
import type { Failure, RunRecord } from '../../services/types.ts';

export interface WhyFacts {
  /** The record before it. */
  readonly before: RunRecord | undefined;
  readonly podName: (pod: string) => string;
}

type Say = (event: RunRecord['event'], record: RunRecord, facts: WhyFacts) => string;

const SENTENCES: Readonly<Record<string, Say>> = {
  STARTED: (event, { state }, { podName }) => {
    const who = event['pod'] === undefined ? 'This process' : podName(`${event['pod']}`);
    const fork = event['forkedFrom'] as { task: string } | undefined;
    const from = fork ? `, as a fork of ${fork.task}` : '';
    return `${who} began it${from}; ${state} comes first.`;
  },
  TAKEN: (event, { state }, { podName }) => {
    const who = podName(`${event['pod']}`);
    if (event['interruption'] === 'cut') {
      return `${who} took it over: its last owner died while it may have been in ${state}.`;
    }
    if (event['interruption'] === 'left') {
      return `${who} took it over: its last owner ended in order and could not wait for ${state}.`;
    }
    return event['isDue'] === true
      ? `${who} took it, since its wait was over.`
      : `${who} goes on with it at ${state}.`;
  },
  ADVANCED: (event) => `Version ${event['version']} goes on with it: its line begins the same.`,
  UPGRADED: (event) =>
    `Version ${event['version']} has carried it over from version ${event['from']}, to ${event['step']}.`,
  DONE: (_event, { state }, { before }) => {
    const done = before?.state ?? 'the phase';
    return isEnd(state)
      ? `${done} is done, and it was the last: ${state}.`
      : `${done} is done; next is ${state}.`;
  },
  HANDED_OFF: (event, { state }, { before }) => {
    const reason = event['reason'] === undefined ? '' : `: ${event['reason']}`;
    const next = isEnd(state) ? 'nothing is left to do' : `${state} is next`;
    return `${before?.state ?? 'It'} found it done already${reason}; ${next}.`;
  },
  FAILED: (event, record, { before }) => {
    const wait = Number(event['dueAt']) - record.at;
    const when = wait > 0 ? `tried again after ${showSpan(wait)}` : 'tried again at once';
    const back = before && before.state !== record.state ? `, from ${record.state}` : '';
    return `${before?.state ?? 'It'} failed: ${saidBy(event['error'])}; ${when}${back}.`;
  },
  POSTPONED: (event, { at }) =>
    `It was put off for ${showSpan(Number(event['dueAt']) - at)}: ${event['reason']}.`,
  PROBED: (_event, { state }) => `check says it has not happened yet: ${state} is done again.`,
  INTERRUPTED: (event, { state }) => {
    if (event['isFree'] === true) return `${state} was let go on purpose; no attempt is counted.`;
    return event['isLast'] === true
      ? `${state} was cut off in its last attempt: check decides.`
      : `${state} was cut off: that counts as an attempt.`;
  },
  ASLEEP: (event, { at }) => `It sleeps for ${showSpan(Number(event['dueAt']) - at)}.`,
  EXHAUSTED: (event, _record, { before }) =>
    `${before?.state ?? 'It'} failed for the last time: ${saidBy(event['error'])}.`,
  ABORTED: (event, _record, { before }) =>
    `${before?.state ?? 'It'} gave it up for good: ${event['reason']}.`,
  TIMED_OUT: (event) => `Its time was over: ${saidBy(event['error'])}.`,
  CANCELLED: (event) => `Somebody cancelled it: ${event['reason']}.`,
};

export function whyOf(record: RunRecord, facts: WhyFacts): string {
  const say = SENTENCES[record.event.type];
  return say ? say(record.event, record, facts) : `${record.event.type} led to ${record.state}.`;
}

function isEnd(state: string): boolean {
  return !state.includes('.');
}

/** Its first line, or its size where it is masked. */
function saidBy(error: unknown): string {
  const { message, name, isMasked, bytes } = Object(error) as Failure;
  if (isMasked) return `${name ?? 'an error'} (${showBytes(bytes ?? 0)}, masked)`;
  return message?.split('\n')[0]?.replace(/\.$/, '') || (name ?? 'an error without words');
}

export const FAILURES: readonly string[] = [
  ...['FAILED', 'EXHAUSTED', 'ABORTED', 'TIMED_OUT'],
  ...['INTERRUPTED', 'CANCELLED', 'TAKEN'],
];

export function countText(shown: number, all: number): string {
  return shown === all ? plural(all, 'event') : `${plural(shown, 'event')} of ${all}`;
}

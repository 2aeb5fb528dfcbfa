/** Words for what is found: times, pods, errors, each short enough for a sentence. */
import { isoTime, showDuration } from '../../ground/index.ts';
import type { StoredRecord } from '../../journal/index.ts';
import { type PodRow, stallOf } from '../../store/index.ts';
import type { Facts } from './facts.ts';
import type { Evidence, Finding } from './finding.ts';

const QUOTE_LENGTH_MAX = 200;
/** The last instant that has a date. */
const TIME_MAX = 8_640_000_000_000_000;

/** What strangers wrote, on one line, not too long, and without the stop that ends our sentence. */
export function quoted(text: unknown): string {
  const line = String(text).replaceAll(/\s+/g, ' ').trim().replace(/\.+$/, '');
  return line.length > QUOTE_LENGTH_MAX ? `${line.slice(0, QUOTE_LENGTH_MAX - 1)}…` : line;
}

/** An error by its message; where that is not to be seen, by its name or code. */
export function failureText(failure: unknown): string {
  const { name, message, code } = Object(failure) as Record<string, unknown>;
  const said = typeof message === 'string' ? quoted(message) : '';
  if (said !== '') return said;
  for (const word of [code, name]) if (typeof word === 'string') return quoted(word);
  return typeof failure === 'string' && failure !== '' ? quoted(failure) : 'an error without words';
}

export function codeOf(failure: unknown): string | undefined {
  const { code } = Object(failure) as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

export function time(ms: number): string {
  return Math.abs(ms) <= TIME_MAX ? isoTime(Math.trunc(ms)) : 'a time without a date';
}

export function ago({ now }: Facts, at: number): string {
  return `${showDuration(Math.max(0, now - at))} ago`;
}

export function lasting({ now }: Facts, since: number): string {
  return showDuration(Math.max(0, now - since));
}

export function within({ now }: Facts, at: number): string {
  return at > now ? `in ${showDuration(at - now)}` : 'now';
}

/** A pod by its name, where it is still known. */
export function podName({ pods }: Facts, id: string | undefined): string {
  if (id === undefined) return 'a process of this host';
  const row = pods.find(({ pod }) => pod === id);
  return row ? `pod ${quoted(row.name)}` : `pod ${quoted(id)}`;
}

export function podEvidence(facts: Facts, row: PodRow): Evidence {
  const trouble = isSilent(facts, row)
    ? ', and silent'
    : row.isStalled
      ? ', and cannot write its journal'
      : '';
  const said = row.status === 'up' ? trouble : '';
  const text = `pod ${quoted(row.name)} is ${row.status}${said}, heard of ${showDuration(row.silentMs)} ago`;
  return { text, pod: row.pod, at: row.beatAt };
}

export function stallEvidence(row: PodRow): Evidence {
  const text = `pod ${quoted(row.name)} cannot write its journal: ${quoted(stallOf(row))}`;
  return { text, pod: row.pod, at: row.beatAt };
}

export const STALL_HINT: Finding['hint'] = {
  text: 'on its host, look at the disk; once it can be written the pod goes on by itself',
  command: 'fleetq doctor --data-dir …',
};

export function recordEvidence({ seq, epoch, at }: StoredRecord, text: string): Evidence {
  return { text, seq, epoch, at };
}

export function silenceOf({ silentMs }: Facts, row: PodRow): number {
  return row.silenceMs ?? silentMs;
}

export function isSilent(facts: Facts, row: PodRow): boolean {
  return row.silentMs >= silenceOf(facts, row);
}

/** Those that may claim: up, and heard of. */
export function livePods(facts: Facts): PodRow[] {
  return facts.pods.filter((row) => row.status === 'up' && !isSilent(facts, row));
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

export function list(words: readonly string[], otherwise: string): string {
  if (words.length === 0) return otherwise;
  const shown = words.slice(0, 5).join(', ');
  return words.length > 5 ? `${shown} and ${words.length - 5} more` : shown;
}

/**
 * Which failures are one and the same to people: those of one machine, with one code, whose messages
 * differ in nothing but numbers, ids and what they quote. Pure; takes time in proportion to the text.
 */
import { hash } from '../ground/index.ts';

/** What is told of an error, wherever it was stored. */
export interface Failure {
  readonly name?: string | undefined;
  readonly code?: string | undefined;
  readonly message?: string | undefined;
}

export interface FailureOf extends Failure {
  readonly machine: string;
}

const FINGERPRINT = /^[0-9a-f]{16}$/;
/** What comes after is seldom what makes it another failure, and may be a whole document. */
const MESSAGE_LENGTH_MAX = 1_000;

/** Sixteen hexadecimal digits. */
export function fingerprintOf({ machine, name, code, message }: FailureOf): string {
  const kind = code ?? name ?? '';
  return hash(JSON.stringify([machine, kind, essenceOf(message ?? '')])).slice(0, 16);
}

/** A failure without what it says: its fingerprint tells nobody whether they have guessed that. */
export function namesOf({ name, code }: Failure): Failure {
  return { name, code };
}

export function isFingerprint(word: string): boolean {
  return FINGERPRINT.test(word);
}

const QUOTED = /"[^"]*"|`[^`]*`|(?<![0-9A-Za-z])'[^']*'/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const TOKEN = /[0-9A-Za-z]+/g;

/** A message without what changes from one failure to the next. */
export function essenceOf(message: string): string {
  return (
    message
      .slice(0, MESSAGE_LENGTH_MAX)
      .replaceAll(QUOTED, '""')
      .replaceAll(UUID, '#')
      .replaceAll(TOKEN, tokenOf)
      // A version, an address or a time is one thing.
      .replaceAll(/#(?:[.,:_/+-]{1,2}#)+/g, '#')
      .replaceAll(/\s+/g, ' ')
      .trim()
  );
}

const ID_LENGTH_MIN = 16;
const NUMBER = /^(?:0x[0-9a-f]*|\d+(?:e\d*)?|[0-9a-f]{8,})$/i;

function tokenOf(token: string): string {
  if (!/\d/.test(token)) return token;
  if (token.length >= ID_LENGTH_MIN || NUMBER.test(token)) return '#';
  return token.replaceAll(/\d+/g, '#');
}

/** What a store holds of an error: JSON text, or any text where it came by a plain INSERT. */
export function failureOf(stored: string | undefined): Failure | undefined {
  if (stored === undefined) return undefined;
  const parsed = parseOr(stored);
  if (typeof parsed !== 'object' || parsed === null) return { message: stored };
  const { name, code, message } = parsed as Record<string, unknown>;
  return { name: wordOf(name), code: wordOf(code), message: wordOf(message) };
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? `${value}` : undefined;
}

/** Where a page ended, as text for whoever asks for the next one. */

import { hash } from '../../ground/index.ts';
import type { Filter } from '../../query/index.ts';
import { CursorError } from '../errors.ts';

/** A row's place in the order of pages: when it was created, as its store keeps that, and its id. */
export interface Position {
  readonly at: string;
  readonly id: string;
}

export interface Cursor extends Position {
  /** By which `2h` ago was counted on the first page. */
  readonly nowMs: number;
}

const CURSOR_LENGTH_MAX = 8_192;

/** Names the list that a cursor is of: another filter is another list. */
export function listOf(filter: Filter): string {
  return hash(JSON.stringify(filter.terms)).slice(0, 16);
}

export function encodeCursor(list: string, { at, id, nowMs }: Cursor): string {
  return Buffer.from(JSON.stringify([1, list, nowMs, at, id])).toString('base64url');
}

/** `isAt`: whether the text can be a time of this store. */
export function decodeCursor(text: string, list: string, isAt: (at: string) => boolean): Cursor {
  const [version, of, nowMs, at, id] = partsOf(text);
  const isWhole =
    version === 1 &&
    typeof of === 'string' &&
    Number.isFinite(nowMs) &&
    typeof at === 'string' &&
    isAt(at) &&
    typeof id === 'string' &&
    !id.includes('\0');
  if (!isWhole) throw new CursorError('the cursor is none that was given out here');
  if (of !== list)
    throw new CursorError('the cursor is of another list: its filter was another one');
  return { nowMs: nowMs as number, at, id };
}

function partsOf(text: string): readonly unknown[] {
  if (text.length > CURSOR_LENGTH_MAX || !/^[\w-]+$/.test(text)) return [];
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

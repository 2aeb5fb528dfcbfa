/** Puts changes into a tree and takes them back. A change that does not fit exactly once is an error. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Change } from './mutant.ts';

/** The source has moved on: the mutant has to be written anew, or it would count for nothing. */
export class PatchError extends Error {
  constructor({ file, find }: Change, count: number) {
    const text = find.trim().replaceAll(/\s+/g, ' ').slice(0, 80);
    super(`${file} is to hold "${text}" exactly once, and holds it ${count} times`);
    this.name = 'PatchError';
  }
}

/** Changes the files below `root`; what is answered puts them back. */
export function applyPatch(root: string, changes: readonly Change[]): () => void {
  const before = new Map<string, string>();
  const undo = () => {
    for (const [path, text] of before) writeFileSync(path, text);
  };
  try {
    for (const change of changes) {
      const path = join(root, change.file);
      const text = readFileSync(path, 'utf8');
      if (!before.has(path)) before.set(path, text);
      writeFileSync(path, patched(text, change));
    }
  } catch (error) {
    undo();
    throw error;
  }
  return undo;
}

export function patched(text: string, change: Change): string {
  const parts = text.split(change.find);
  if (parts.length !== 2) throw new PatchError(change, parts.length - 1);
  return parts.join(change.put);
}

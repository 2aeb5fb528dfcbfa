/** Asks a person before many tasks are ended for good, as the admin UI does: by typing how many there are. */
import { createInterface } from 'node:readline';
import type { BulkPreview } from '../../fleet/index.ts';
import { show } from '../../ground/index.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Output } from '../output.ts';

/** No later command takes these back. */
const FINAL: ReadonlySet<string> = new Set(['cancel', 'discard']);

export function isFinal(what: string): boolean {
  return FINAL.has(what);
}

/** A script has nobody to ask, and says so itself. */
export function refuseUnasked(what: string, { stdin, stderr }: Io): void {
  if (stderr.isTTY && (stdin as { readonly isTTY?: boolean }).isTTY) return;
  throw new UsageError(
    `${what} of many tasks cannot be undone, and here is no terminal to ask on`,
    {
      hint: 'look with --dry-run at what would be done, then pass --yes',
    },
  );
}

/** Returns whether the person typed the number of tasks. */
export async function isConfirmed(
  what: string,
  { count, isExact }: BulkPreview,
  { io, output }: { readonly io: Io; readonly output: Output },
): Promise<boolean> {
  if (count === 0) return true;
  const many = `${isExact ? '' : 'at least '}${count.toLocaleString('en')}`;
  const tasks = isExact && count === 1 ? 'task' : 'tasks';
  output.note(`this will ${what} ${many} ${tasks}, which cannot be undone`);
  io.stderr.write(`type ${count} to go on: `);
  const typed = await lineOf(io.stdin);
  if (typed === `${count}`) return true;
  output.note(`nothing was started: ${show(typed)} is not ${count}`);
  return false;
}

/** What was typed until the end of the line; nothing where the input ends before. */
async function lineOf(stdin: Io['stdin']): Promise<string> {
  const lines = createInterface({ input: stdin, terminal: false });
  try {
    for await (const line of lines) return line.trim();
    return '';
  } finally {
    lines.close();
  }
}

/** Processes of a run that are still there after it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** Those whose command line has one of these words; nobody on a system that does not tell. */
export function processesWith(words: readonly string[]): string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      const line = commandOf(pid);
      return words.some((word) => line.includes(word)) ? `${pid}: ${line.slice(0, 200)}` : [];
    });
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // It has ended since.
    return '';
  }
}

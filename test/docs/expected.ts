/** Compares what a block printed with what its page says: `…` stands for anything. */

/** Undefined where it fits; else the first expected line that does not. */
export function misfit(expected: string, printed: string): string | undefined {
  const wanted = linesOf(expected);
  const found = linesOf(printed);
  let at = 0;
  for (const [index, line] of wanted.entries()) {
    if (line.trim() === '…') {
      const next = wanted[index + 1];
      if (next === undefined) return undefined;
      const skipped = found.slice(at).findIndex((candidate) => fits(next, candidate));
      if (skipped < 0) return next;
      at += skipped;
      continue;
    }
    const candidate = found[at++];
    if (candidate === undefined || !fits(line, candidate)) return line;
  }
  return at < found.length ? `the end, and then came ${found[at]}` : undefined;
}

function fits(wanted: string, found: string): boolean {
  const parts = wanted.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(found);
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trimEnd());
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

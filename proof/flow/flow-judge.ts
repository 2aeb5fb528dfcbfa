/** What a ledger outside says of serial keys: one at a time, in order, all of them. */
export interface FlowLine {
  readonly key: string;
  readonly number: number;
  readonly what: 'begins' | 'ends';
}

export interface FlowVerdict {
  /** Tasks that began while another of their key had begun and not ended. */
  readonly together: number;
  /** Tasks that began before one that was before them in their key. */
  readonly outOfOrder: number;
  /** Tasks that did not end. */
  readonly stuck: number;
  /** Tasks that began more often than once: their pods were killed. */
  readonly repeated: number;
}

/** `excused`: of these it is known that their pods were killed so often that they were given up. */
export function judgeFlow(
  lines: readonly FlowLine[],
  wanted: { readonly keys: readonly string[]; readonly tasks: number },
  excused: ReadonlySet<string> = new Set(),
): FlowVerdict {
  const begun = new Map<string, Set<number>>(wanted.keys.map((key) => [key, new Set()]));
  const ended = new Map<string, Set<number>>(wanted.keys.map((key) => [key, new Set()]));
  const repeated = new Set<string>();
  let [together, outOfOrder] = [0, 0];
  const isOver = (key: string, number: number) =>
    ended.get(key)!.has(number) || excused.has(nameOf(key, number));
  for (const { key, number, what } of lines) {
    const seen = begun.get(key)!;
    if (what === 'ends') {
      ended.get(key)!.add(number);
      continue;
    }
    if ([...seen].some((other) => other !== number && !isOver(key, other))) together += 1;
    if (seen.has(number)) repeated.add(nameOf(key, number));
    else if (seen.size > 0 && number < Math.max(...seen)) outOfOrder += 1;
    seen.add(number);
  }
  const all = wanted.keys.flatMap((key) =>
    Array.from({ length: wanted.tasks }, (_, number) => [key, number] as const),
  );
  const stuck = all.filter(([key, number]) => !isOver(key, number)).length;
  return { together, outOfOrder, stuck, repeated: repeated.size };
}

export function nameOf(key: string, number: number): string {
  return `${key} ${number}`;
}

/** What the ledgers alone say: which starts came to nothing, and which effects happened twice. */
import type { LedgerLine } from '../support/ledger.ts';
import type { Shape } from './shapes.ts';

export interface LedgerVerdict {
  /** Starts that were answered as durable. */
  readonly acknowledged: number;
  /** Of these, the ones whose last effect is in no ledger. */
  readonly lost: number;
  /** Persist effects in the ledger. */
  readonly persists: number;
  /** Persist effects that happened again for the same idempotency key. */
  readonly repeated: number;
  /** Of these, the ones outside the one window in which that may be: see `isInWindow`. */
  readonly doubled: number;
  /** The most persists of one process that were repeated later: at most its slots. */
  readonly repeatedPerProcessMax: number;
  /** Effects of subjects that nobody has asked for. */
  readonly invented: number;
}

const LAST_EFFECT: Record<Shape, (line: LedgerLine) => boolean> = {
  one: (line) => line.phase === 'persist',
  three: (line) => line.step === 'activate' && line.phase === 'persist',
  handoff: (line) => line.phase === 'check' && line.outcome === 'handed off',
  flaky: (line) => line.phase === 'persist',
  sleeping: (line) => line.step === 'after' && line.phase === 'persist',
};

export function judgeLedgers(
  starts: readonly { readonly subject: string; readonly shape: Shape }[],
  effects: readonly LedgerLine[],
): LedgerVerdict {
  const bySubject = new Map<string, LedgerLine[]>();
  for (const line of effects) {
    if (line.phase === 'probe') continue;
    const lines = bySubject.get(line.subject);
    if (lines) lines.push(line);
    else bySubject.set(line.subject, [line]);
  }
  const lost = starts.filter(
    ({ subject, shape }) => !(bySubject.get(subject) ?? []).some(LAST_EFFECT[shape]),
  );
  const repeats = [...bySubject.values()].flatMap(repeatsOf);
  const perProcess = new Map<number, number>();
  for (const { first } of repeats) {
    perProcess.set(first.fencingToken, (perProcess.get(first.fencingToken) ?? 0) + 1);
  }
  const asked = new Set(starts.map((start) => start.subject));
  return {
    acknowledged: starts.length,
    lost: lost.length,
    persists: effects.filter((line) => line.phase === 'persist').length,
    repeated: repeats.length,
    doubled: repeats.filter((repeat) => !repeat.isInWindow).length,
    repeatedPerProcessMax: Math.max(0, ...perProcess.values()),
    invented: [...bySubject.keys()].filter((subject) => !asked.has(subject)).length,
  };
}

interface Repeat {
  readonly first: LedgerLine;
  /**
   * The window of CONTRACT's row 11: the process died between the effect and its record. So the two
   * are of different processes, and nothing else of the run lies between them: a later phase would
   * prove that the first had been recorded.
   */
  readonly isInWindow: boolean;
}

function repeatsOf(lines: readonly LedgerLine[]): Repeat[] {
  const repeats: Repeat[] = [];
  const lastOf = new Map<string, number>();
  lines.forEach((line, index) => {
    if (line.phase !== 'persist') return;
    const before = lastOf.get(line.idempotencyKey);
    lastOf.set(line.idempotencyKey, index);
    const first = before === undefined ? undefined : lines[before];
    if (!first || before === undefined) return;
    const isInWindow = index === before + 1 && first.fencingToken < line.fencingToken;
    repeats.push({ first, isInWindow });
  });
  return repeats;
}

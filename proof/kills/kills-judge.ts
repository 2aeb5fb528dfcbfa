/** What the ledgers alone say: which starts came to nothing, and which effects happened twice. */
import type { LedgerLine } from '../../test/support/ledger.ts';
import type { Shape } from '../../test/support/shapes.ts';

export interface LedgerVerdict {
  /** Starts that were answered as durable. */
  readonly acknowledged: number;
  /** Of these, the ones whose last effect is in no ledger. */
  readonly lost: number;
  /** What was persisted, and what was worked, as often as it happened. */
  readonly persist: EffectVerdict;
  readonly work: EffectVerdict;
  /** The most effects of one process, of both kinds, that were repeated later: at most its slots. */
  readonly repeatedPerProcessMax: number;
  /** Effects of subjects that nobody has asked for. */
  readonly invented: number;
}

export interface EffectVerdict {
  /** Effects in the ledger. */
  readonly count: number;
  /** Effects that happened again for the same idempotency key though the first had not failed. */
  readonly repeated: number;
  /** Of these, the ones outside the one window in which that may be: see `isInWindow`. */
  readonly doubled: number;
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
  const verdictOf = (phase: Effect): EffectVerdict => {
    const ofPhase = repeats.filter(({ first }) => first.phase === phase);
    return {
      count: effects.filter((line) => line.phase === phase).length,
      repeated: ofPhase.length,
      doubled: ofPhase.filter((repeat) => !repeat.isInWindow).length,
    };
  };
  const perProcess = new Map<number, number>();
  for (const { first } of repeats) {
    perProcess.set(first.fencingToken, (perProcess.get(first.fencingToken) ?? 0) + 1);
  }
  const asked = new Set(starts.map((start) => start.subject));
  return {
    acknowledged: starts.length,
    lost: lost.length,
    persist: verdictOf('persist'),
    work: verdictOf('work'),
    repeatedPerProcessMax: Math.max(0, ...perProcess.values()),
    invented: [...bySubject.keys()].filter((subject) => !asked.has(subject)).length,
  };
}

type Effect = 'work' | 'persist';

interface Repeat {
  readonly first: LedgerLine;
  /**
   * The window of CONTRACT's row 11: the process died between the effect and its record. So the two
   * are of different processes, the second is a later attempt than the one that was cut off, and
   * nothing else of the run lies between them: a later phase would prove that the first had been
   * recorded.
   */
  readonly isInWindow: boolean;
}

/**
 * The same effect again, for one key. Where the last thing that happened was a throw, of the effect or
 * of the `validate` that rejected it, a later attempt is a retry and no repeat.
 */
function repeatsOf(lines: readonly LedgerLine[]): Repeat[] {
  const repeats: Repeat[] = [];
  const lastOf = new Map<string, number>();
  lines.forEach((line, index) => {
    if (line.phase !== 'persist' && line.phase !== 'work') return;
    const before = lastOf.get(line.idempotencyKey);
    lastOf.set(line.idempotencyKey, index);
    const first = before === undefined ? undefined : lines[before];
    if (!first || before === undefined) return;
    const last = lines[index - 1]!;
    const isRetry = last.outcome === 'threw' && last.attempt < line.attempt;
    if (isRetry) return;
    const isLater = first.fencingToken < line.fencingToken && first.attempt < line.attempt;
    repeats.push({ first, isInWindow: index === before + 1 && isLater });
  });
  return repeats;
}

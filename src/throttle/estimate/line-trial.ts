/**
 * Fewer calls at once, tried for a while: what was before, and what holds when it is known whether they had
 * waited in line. Where they may have taken less by themselves, more are tried once again before that.
 */
import type { Decision } from './estimator-rule.ts';
import type { Bad } from './learned.ts';
import type { Fewer, QueueWatch } from './queue-watch.ts';

/** So many times as many at once are enough to see the line again. */
const AGAIN = 2;

/** What holds from now on. */
export interface TrialEnd {
  readonly cap: number;
  readonly decision: Decision;
  /** What was too much, where there is no line. */
  readonly bad: Bad | undefined;
  readonly isLine: boolean;
}

interface Untried {
  readonly cap: number;
  readonly bad: Bad | undefined;
  readonly inLine: number;
}

export class LineTrial {
  readonly #queue: QueueWatch;
  #untried: Untried | undefined;
  /** What was enough the last time that there was a line. */
  #lineCap = 0;

  constructor(queue: QueueWatch) {
    this.#queue = queue;
  }

  begin(fewer: Fewer, cap: number, bad: Bad | undefined): void {
    this.#untried = { cap, bad, inLine: fewer.inLine };
    // Of few, one is on its way from pod to pod at any time.
    const least = Math.max(0.5, Math.floor(fewer.cap) - 1) / cap;
    this.#queue.begin(fewer.cap / cap, { least, isDoubtful: cap <= this.#lineCap });
  }

  /** Where calls take as long with fewer at once, nobody waits in line: what was before holds again. */
  end(capNow: number): TrialEnd | undefined {
    const verdict = this.#queue.isTrying ? this.#queue.verdict : undefined;
    if (verdict === undefined) return undefined;
    const { cap, bad, inLine } = this.#untried!;
    switch (verdict) {
      case 'line':
        this.#lineCap = inLine;
        return { cap: inLine, decision: 'latency', bad, isLine: true };
      case 'again': {
        const more = Math.min(cap, AGAIN * capNow);
        this.#queue.beginAgain(more / capNow);
        return { cap: more, decision: 'latency', bad, isLine: false };
      }
      default:
        return { cap, decision: 'probe', bad, isLine: false };
    }
  }
}

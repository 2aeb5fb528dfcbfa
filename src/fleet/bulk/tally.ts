/** What came of the tasks of a page. */
import type { ActAnswer, BulkItem, BulkSample, BulkTally, Refusal } from '../../store/index.ts';

const SAMPLES_MAX = 20;

export class Tally {
  readonly #counts = { done: 0, requested: 0, already: 0, refused: 0 };
  readonly #refusals: Partial<Record<Refusal, number>> = {};
  readonly #samples: BulkSample[] = [];

  add({ task }: BulkItem, answer: ActAnswer): void {
    this.#counts[answer.kind] += 1;
    if (answer.kind !== 'refused') return;
    const { why, detail } = answer;
    this.#refusals[why] = (this.#refusals[why] ?? 0) + 1;
    if (this.#samples.length < SAMPLES_MAX) this.#samples.push({ task, why, detail });
  }

  get sum(): BulkTally {
    return { ...this.#counts, refusals: this.#refusals, samples: this.#samples };
  }
}

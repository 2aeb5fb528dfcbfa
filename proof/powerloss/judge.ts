/**
 * Whether what is left after a loss of power is what was promised: all that had been acknowledged, or
 * an alarm; never anything that was not written, and never a journal that cannot be opened.
 */
import type { RunId } from '../../src/ground/index.ts';
import type { Facts } from './facts.ts';
import type { Ack, Op } from './recording.ts';

/** `begun`: an alarm where the journal had never been opened; `alarmed`: one where it had. */
export type Verdict = 'whole' | 'begun' | 'alarmed' | 'lost' | 'wrong' | 'crashed';
export interface Judgement {
  readonly verdict: Verdict;
  readonly why: string;
}

interface RunTruth {
  readonly hashes: string[];
  ending: string | undefined;
}

/** All that was ever written, and how much of it had been acknowledged at some point. */
export class Truth {
  readonly #ever = new Map<RunId, RunTruth>();
  readonly #durable = new Map<RunId, number>();
  readonly #prunable = new Set<RunId>();
  #boots = 0;

  constructor(ops: readonly Op[]) {
    for (const op of ops) {
      if (op.op !== 'ack' || op.ack.say !== 'durable') continue;
      const { run, seq, hash, ending } = op.ack;
      const truth = this.#ever.get(run) ?? { hashes: [], ending: undefined };
      truth.hashes[seq] = hash;
      if (ending) truth.ending = JSON.stringify(ending);
      this.#ever.set(run, truth);
    }
  }

  /** From here on this has been acknowledged too. */
  add(ack: Ack): void {
    if (ack.say === 'durable') this.#durable.set(ack.run, ack.seq + 1);
    if (ack.say === 'pruning') for (const run of ack.runs) this.#prunable.add(run);
    if (ack.say === 'opened') this.#boots = ack.boot;
  }

  judge(facts: Facts | Error): Judgement {
    if (facts instanceof Error)
      return { verdict: 'crashed', why: String(facts.stack).slice(0, 600) };
    const wrong = this.#lies(facts);
    if (wrong.length > 0) return { verdict: 'wrong', why: wrong.slice(0, 3).join('; ') };
    const lost = this.#losses(facts);
    // A damaged mark says nothing of records: under it alone nothing may be missing.
    const isAlarmed = facts.alarms.some((kind) => kind !== 'markDamaged');
    if (lost.length > 0 && !isAlarmed) return { verdict: 'lost', why: lost.slice(0, 3).join('; ') };
    const verdict = this.#boots > 0 ? 'alarmed' : 'begun';
    if (facts.alarms.length > 0) return { verdict, why: facts.alarms.join() };
    return { verdict: 'whole', why: '' };
  }

  #lies({ runs, problems, boot, alarms, isCertain }: Facts): string[] {
    const wrong = [...problems];
    for (const [id, { hashes, ending, isDamaged }] of runs) {
      const truth = this.#ever.get(id);
      if (!truth) wrong.push(`run ${id} never was`);
      if (!truth || isDamaged) continue;
      const isPrefix = hashes.every((hash, index) => truth.hashes[index] === hash);
      if (!isPrefix) wrong.push(`run ${id} has records that never were`);
      if (ending !== undefined && ending !== truth.ending) wrong.push(`run ${id} ended otherwise`);
      const hasEnd = truth.ending !== undefined && hashes.length === truth.hashes.length;
      const isPruned = this.#prunable.has(id) && hashes.length === 0;
      if (!isPruned && hasEnd !== (ending !== undefined))
        wrong.push(`run ${id}: end and row differ`);
    }
    // A token that two processes share fences nothing; a journal that was put aside says so.
    if (boot <= this.#boots && alarms.length === 0) wrong.push(`boot ${boot} was there before`);
    if (isCertain && this.#durable.size > 0) wrong.push('it believes a mark from before the loss');
    return wrong;
  }

  #losses({ runs }: Facts): string[] {
    const lost: string[] = [];
    for (const [id, count] of this.#durable) {
      const found = runs.get(id);
      const isPruned = this.#prunable.has(id) && found?.ending !== undefined;
      if (isPruned && found.hashes.length === 0) continue;
      const there = found?.hashes.length ?? 0;
      if (there < count) lost.push(`run ${id} has ${there} of ${count} records`);
    }
    return lost;
  }
}

/** A machine that does what it did, and has every call of its phases witnessed in a ledger. */
import type { Around } from '../engine/index.ts';
import type { Machine, Phase, PhaseFunction, Plan, StepContext } from '../machine/index.ts';
import { attachPlan } from '../machine/plan.ts';
import type { Call, CaseLedger } from './case-ledger.ts';

type Functions = { [K in Phase]?: PhaseFunction };

export class Witness {
  readonly #ledger: CaseLedger;
  #isProbe = false;

  constructor(ledger: CaseLedger) {
    this.#ledger = ledger;
  }

  /** A handler cannot tell a probe from its `check`; this can. One run at a time. */
  readonly around: Around = (of, call) => {
    this.#isProbe = of.phase === 'probe';
    return call();
  };

  /** The author's own is frozen and stays as it is: the same plan with other functions. */
  watch(machine: Machine, plan: Plan): Machine {
    const line = plan.line.map((part) => {
      if (part.kind === 'sleep') return part;
      const functions: Functions = {};
      for (const [phase, handler] of Object.entries(part.functions))
        functions[phase as Phase] = this.#watched(part.name, phase as Phase, handler);
      return { ...part, functions };
    });
    const watched = Object.create(machine) as Machine;
    attachPlan(watched, { ...plan, line });
    return watched;
  }

  #watched(step: string, phase: Phase, handler: PhaseFunction): PhaseFunction {
    return (context) => {
      const call = callOf(context, step, this.#isProbe ? 'probe' : phase);
      const leave = (how: 'returned' | 'threw') => this.#ledger.write({ at: 'left', how, ...call });
      this.#ledger.write({ at: 'entered', ...call });
      try {
        const answer = handler(context);
        if (!isThenable(answer)) {
          leave('returned');
          return answer;
        }
        return answer.then(
          (value) => {
            leave('returned');
            return value;
          },
          (thrown) => {
            leave('threw');
            throw thrown;
          },
        );
      } catch (thrown) {
        leave('threw');
        throw thrown;
      }
    };
  }
}

function callOf(context: object, step: string, phase: Call['phase']): Call {
  const { runId, attempt, idempotencyKey, fencingToken } = context as StepContext<unknown, unknown>;
  return { run: runId, step, phase, attempt, idempotencyKey, fencingToken };
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

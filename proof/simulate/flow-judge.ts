/** Whatever keeps tasks from being claimed though they are there: turns, limits, those they follow. */
import type { FlowAnswer, FlowChange } from '../../src/store/queues.ts';
import type { EnqueueAnswer } from '../../src/store/tasks.ts';
import type { Told } from './auditor.ts';
import { FollowJudge } from './follow-judge.ts';
import { GateJudge } from './gate-judge.ts';
import { TurnJudge } from './turn-judge.ts';
import type { World } from './world.ts';

export class FlowJudge {
  readonly #turns: TurnJudge;
  readonly #gates: GateJudge;
  readonly #follows: FollowJudge;

  constructor(world: World) {
    this.#turns = new TurnJudge(world);
    this.#gates = new GateJudge(world);
    this.#follows = new FollowJudge(world);
  }

  /** A phase of a claimed run begins. */
  begins(run: string, epoch: number, what: string): void {
    this.#turns.begins(run, epoch, what);
    this.#follows.begins(run, what);
  }

  /** A call was carried out that names these tasks: answers with whomever else it has let go. */
  called({ verb, given }: Told, answer: unknown, named: readonly string[]): readonly string[] {
    if (verb === 'enqueue') {
      this.#turns.enqueued(answer as EnqueueAnswer[]);
      this.#follows.enqueued(answer as EnqueueAnswer[]);
    }
    if (verb === 'changeFlow') this.#gates.changed(given[0] as FlowChange, answer as FlowAnswer);
    if (named.length > 0) this.#gates.look(named, verb);
    const gone = this.#follows.look(verb, given);
    const turned = this.#turns.look(verb, given);
    return gone.length + turned.length === 0 ? named : [...named, ...gone, ...turned];
  }
}

/** Enqueueing: in a transaction of our own, or in one of the caller's. */
import type { Clock } from '../../ground/index.ts';
import type { StartNote } from '../acts.ts';
import type { CallerTx } from '../caller-tx.ts';
import { nativeOf } from '../persisting.ts';
import type { CheckAnswers } from '../store.ts';
import type { EnqueueAnswer, NewTask } from '../tasks.ts';
import { note } from './act.ts';
import { whenOver, withinCallerTx } from './caller-tx.ts';
import { enqueue } from './enqueue.ts';
import type { Session, Tx } from './session.ts';

export interface IntakePorts {
  readonly session: Session;
  /** Of the store's file. */
  readonly identity: string | undefined;
  readonly clock: Clock;
  /** Who waits for tasks hears of these. */
  readonly tell: (made: readonly EnqueueAnswer[]) => void;
}

export class SqliteIntake {
  readonly #ports: IntakePorts;

  constructor(ports: IntakePorts) {
    this.#ports = ports;
  }

  async enqueue(
    given: readonly NewTask[],
    check?: CheckAnswers,
    started?: StartNote,
    tx?: CallerTx,
  ): Promise<EnqueueAnswer[]> {
    if (given.length === 0) return [];
    const { session, identity, clock, tell } = this.#ports;
    const put = (within: Tx) => {
      const found = enqueue(within, given);
      check?.(found);
      if (started) note(within, { ...started, task: found[0]!.id });
      return found;
    };
    const on = tx && (((await nativeOf(tx)) ?? tx) as CallerTx);
    const answers = on
      ? withinCallerTx(on, identity ?? '', put)
      : await session.write((within) => put(within));
    const made = answers.filter(({ isNew }) => isNew);
    if (on) whenOver(on, clock, () => tell(made));
    else tell(made);
    return answers;
  }
}

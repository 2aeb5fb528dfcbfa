/** Guards what timers do to the journal: nobody is there to catch what they throw. */
import { describeError } from '../ground/index.ts';
import { tell } from '../telemetry/events.ts';

/**
 * Does `act`, or reports its failure and returns `otherwise`. A failure that repeats is reported once;
 * a different one is news. A file that cannot be read
 * in one place may serve its runs well in others, so this is no reason to end the process.
 */
export class AlarmOnce {
  readonly #kind: string;
  #reported: string | undefined;

  constructor(kind: string) {
    this.#kind = kind;
  }

  guard<T>(act: () => T, otherwise: T): T {
    try {
      return act();
    } catch (error) {
      this.#report(describeError(error).message);
      return otherwise;
    }
  }

  #report(message: string): void {
    if (this.#reported === message) return;
    this.#reported = message;
    tell('journal.alarm', () => ({ kind: this.#kind, message }));
  }
}

/** Guards what timers do to the journal: nobody is there to catch what they throw. */
import { describeError } from '../ground/index.ts';
import { tell } from '../telemetry/events.ts';

/**
 * Does `act`, or tells people once that it failed, and answers `otherwise`. A file that cannot be read
 * in one place may serve its runs well in others, so this is no reason to end the process.
 */
export class AlarmOnce {
  readonly #kind: string;
  #isTold = false;

  constructor(kind: string) {
    this.#kind = kind;
  }

  guard<T>(act: () => T, otherwise: T): T {
    try {
      return act();
    } catch (error) {
      this.#tell(describeError(error).message);
      return otherwise;
    }
  }

  #tell(message: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    tell('journal.alarm', () => ({ kind: this.#kind, message }));
  }
}

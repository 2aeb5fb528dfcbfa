/** What a process does for its journal beside executing runs: retention, and a look at old records. */
import type { Clock } from '../ground/index.ts';
import type { Journal } from '../journal/index.ts';
import { EventChecker, type Quarantine } from './event-checker.ts';
import { Pruner } from './pruner.ts';

export class Caretaker {
  readonly #pruner: Pruner;
  readonly #checker: EventChecker;

  constructor(
    journal: Journal,
    clock: Clock,
    retentionMs: number,
    quarantine: Quarantine,
    isPatient = false,
  ) {
    this.#pruner = new Pruner(journal, clock, retentionMs, isPatient);
    this.#checker = new EventChecker(journal, clock, quarantine);
  }

  start(): void {
    this.#pruner.start();
    this.#checker.start();
  }

  stop(): void {
    this.#pruner.stop();
    this.#checker.stop();
  }
}

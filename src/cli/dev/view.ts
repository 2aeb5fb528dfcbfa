/** Where `fleetq dev` shows what happens. Without a terminal: a line for each thing worth one. */
import { isoTime, systemClock } from '../../ground/index.ts';
import type { Output } from '../output.ts';
import { tellEvent } from './story.ts';
import type { SupervisorEvent } from './supervisor.ts';

export interface View {
  open(): void;
  hear(event: SupervisorEvent): void;
  say(text: string): void;
  close(): void;
}

export class LinesView implements View {
  readonly #output: Output;
  #startedCount = 0;
  readonly #endings = new Map<string, number>();

  constructor(output: Output) {
    this.#output = output;
  }

  open(): void {}

  hear(event: SupervisorEvent): void {
    if (event.kind === 'begun') this.#startedCount++;
    if (event.kind === 'finished') {
      this.#endings.set(event.outcome, (this.#endings.get(event.outcome) ?? 0) + 1);
    }
    if (this.#output.isJson) {
      const at = isoTime(systemClock.now());
      return this.#output.line(JSON.stringify({ at, ...event }));
    }
    const text = tellEvent(event, (run) => run);
    if (text !== undefined) this.#output.line(text);
  }

  say(text: string): void {
    this.#output.note(text);
  }

  close(): void {
    const endings = [...this.#endings].map(([outcome, count]) => `${count} ${outcome}`);
    this.#output.note(`runs: ${this.#startedCount} started, ${endings.join(', ') || '0 ended'}`);
  }
}

/** Where the CLI writes: data on stdout, everything else on stderr. */
import { describeError, FleetqError } from '../ground/index.ts';
import { Exit, type ExitCode, exitOf } from './exit.ts';
import { painterFor } from './paint.ts';
import type { Redact } from './shown.ts';
import { type Column, tableText, tsvText } from './table.ts';

export class Output {
  readonly isJson: boolean;
  readonly isTerminal = process.stdout.isTTY === true;
  readonly paint = painterFor(process.stdout);
  /** What people may see of inputs, outputs and events. */
  redact: Redact = (json) => json;
  readonly #paintNote = painterFor(process.stderr);

  constructor(isJson: boolean) {
    this.isJson = isJson;
  }

  /** One value as JSON: on one line for programs, indented for people. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, undefined, this.isTerminal || !this.isJson ? 2 : undefined));
  }

  line(text: string): void {
    process.stdout.write(`${text}\n`);
  }

  /** A table on a terminal; tab-separated, without a head, for whoever reads it through a pipe. */
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    const width = process.stdout.columns ?? 80;
    this.line(
      this.isTerminal ? tableText(rows, columns, width, this.paint) : tsvText(rows, columns),
    );
  }

  /** For the person at the keyboard; never data. */
  note(text: string): void {
    process.stderr.write(`${this.#paintNote('gray', text)}\n`);
  }

  /** Says what went wrong and what to do, and which exit code that is. */
  failure(thrown: unknown): ExitCode {
    const error = describeError(thrown);
    const known = thrown instanceof FleetqError ? thrown : undefined;
    const code = known?.code ?? 'FLEETQ_INTERNAL';
    if (this.isJson) {
      const { message } = error;
      process.stderr.write(`${JSON.stringify({ error: { code, message, hint: known?.hint } })}\n`);
    } else {
      const paint = this.#paintNote;
      const text = known ? error.message : (error.stack ?? error.message);
      process.stderr.write(`${paint('red', 'fleetq:')} ${text}\n`);
      if (known?.hint) process.stderr.write(`${paint('gray', '  hint:')} ${known.hint}\n`);
    }
    return known ? exitOf(code) : Exit.internal;
  }
}

/** Where the CLI writes: data on stdout, everything else on stderr. */
import { describeError, FleetqError } from '../ground/index.ts';
import { Exit, type ExitCode, exitOf } from './exit.ts';
import type { Io } from './io.ts';
import { type Paint, painterFor } from './paint.ts';
import type { Redact } from './shown.ts';
import { type Column, tableText, tsvText } from './table.ts';

export class Output {
  readonly isJson: boolean;
  readonly isTerminal: boolean;
  readonly paint: Paint;
  /** What people may see of inputs, outputs and events. */
  redact: Redact = (json) => json;
  readonly #io: Pick<Io, 'stdout' | 'stderr'>;
  readonly #paintNote: Paint;

  constructor(isJson: boolean, io: Pick<Io, 'stdout' | 'stderr' | 'env'>) {
    this.isJson = isJson;
    this.isTerminal = io.stdout.isTTY === true;
    this.paint = painterFor(io.stdout, io.env);
    this.#io = io;
    this.#paintNote = painterFor(io.stderr, io.env);
  }

  /** The width of the terminal; undefined without one. */
  get columns(): number | undefined {
    return this.#io.stdout.columns;
  }

  /** One value as JSON: on one line for programs, indented for people. */
  json(value: unknown): void {
    this.line(JSON.stringify(value, undefined, this.isTerminal || !this.isJson ? 2 : undefined));
  }

  line(text: string): void {
    this.#io.stdout.write(`${text}\n`);
  }

  /** A table on a terminal; tab-separated, without a head, for whoever reads it through a pipe. */
  table<T>(rows: readonly T[], columns: readonly Column<T>[]): void {
    const width = this.columns ?? 80;
    this.line(
      this.isTerminal ? tableText(rows, columns, width, this.paint) : tsvText(rows, columns),
    );
  }

  /** For the person at the keyboard; never data. */
  note(text: string): void {
    this.#io.stderr.write(`${this.#paintNote('gray', text)}\n`);
  }

  /** Says what went wrong and what to do, and which exit code that is. */
  failure(thrown: unknown): ExitCode {
    const error = describeError(thrown);
    const known = thrown instanceof FleetqError ? thrown : undefined;
    const code = known?.code ?? 'FLEETQ_INTERNAL';
    const { stderr } = this.#io;
    if (this.isJson) {
      const { message } = error;
      stderr.write(`${JSON.stringify({ error: { code, message, hint: known?.hint } })}\n`);
    } else {
      const paint = this.#paintNote;
      const text = known ? error.message : (error.stack ?? error.message);
      stderr.write(`${paint('red', 'fleetq:')} ${text}\n`);
      if (known?.hint) stderr.write(`${paint('gray', '  hint:')} ${known.hint}\n`);
    }
    return known ? exitOf(code) : Exit.internal;
  }
}

/** Where the CLI writes: data on stdout, everything else on stderr. */
import { styleText } from 'node:util';
import { describeError, FleetqError } from '../ground/index.ts';
import { Exit, type ExitCode, exitOf } from './exit.ts';
import { type Column, tableText, tsvText } from './table.ts';

export type Style = Parameters<typeof styleText>[0];
export type Paint = (style: Style, text: string) => string;

/** Whether a stream is a terminal that wants colours: NO_COLOR and FORCE_COLOR are heeded. */
export function wantsColour(stream: { readonly isTTY?: boolean | undefined }): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env;
  return FORCE_COLOR ? FORCE_COLOR !== '0' : stream.isTTY === true && !NO_COLOR;
}

export function painterFor(stream: { readonly isTTY?: boolean | undefined }): Paint {
  // The decision is made here: left to itself, styleText would look at stdout for stderr as well.
  return wantsColour(stream)
    ? (style, text) => styleText(style, text, { validateStream: false })
    : (_, text) => text;
}

export class Output {
  readonly isJson: boolean;
  readonly isTerminal = process.stdout.isTTY === true;
  readonly paint = painterFor(process.stdout);
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

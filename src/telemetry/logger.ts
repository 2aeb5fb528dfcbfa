/**
 * The logger of FleetQ's own processes: JSON lines on stderr, or short coloured ones for people. The
 * pretty form is written here in full, since a formatter that is only a development dependency would
 * be missing wherever FleetQ is installed.
 */
import { writeSync } from 'node:fs';
import { styleText } from 'node:util';
import { destination, type Logger, pino } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  readonly isPretty: boolean;
  readonly hasColour?: boolean | undefined;
  /** The file descriptor to write to; stderr by default. */
  readonly fd?: number | undefined;
  /** Instead of a file descriptor. */
  readonly write?: ((text: string) => void) | undefined;
}

/** Writes without a buffer: the last line before a crash is the one that matters. */
export function openLogger({ level, isPretty, hasColour, fd = 2, write }: LoggerOptions): Logger {
  const options = {
    level,
    base: { pid: process.pid },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  if (!isPretty) return pino(options, write ? { write } : sinkTo(fd));
  const out = write ?? ((text) => writeAll(fd, text));
  return pino(options, { write: (line: string) => out(pretty(line, hasColour ?? false)) });
}

/**
 * What cannot be written is lost, and the next line is tried again: a log is often on the disk that is
 * full, and must not take down the runs that wait for room there.
 */
function sinkTo(fd: number): { write(line: string): void } {
  const open = () => {
    const made = destination({ fd, sync: true });
    // Another one, since it would keep what it could not write, and all that comes after it.
    made.on('error', () => {
      sink = open();
    });
    return made;
  };
  let sink = open();
  return { write: (line) => void sink.write(line) };
}

function writeAll(fd: number, text: string): void {
  try {
    writeSync(fd, text);
  } catch {
    // A full pipe, a full disk or a closed terminal must not take the runs down with it.
  }
}

const COLOUR = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;
const HIDDEN = new Set([
  ...['level', 'time', 'pid', 'msg', 'event', 'err', 'step', 'phase'],
  // The run's id says the same, and one knows which process one looks at.
  ...['trace_id', 'span_id', 'pod', 'epoch'],
]);

/** '12:04:31.120 warn  phase retried  run_id=… err: message'. */
export function pretty(line: string, hasColour: boolean): string {
  const { level, time, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const label = String(level);
  const colour = COLOUR[label as keyof typeof COLOUR] ?? 'reset';
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    hasColour ? styleText(style, text, { validateStream: false }) : text;
  const rest = Object.entries(fields)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [
    `${String(time).slice(11, 23)} ${paint(colour, label.padEnd(5))} ${msg}`,
    ...(rest.length > 0 ? [paint('gray', rest.join(' '))] : []),
    ...(err ? [`\n             ${errorText(err)}`] : []),
  ]
    .join('  ')
    .concat('\n');
}

interface ShownError {
  readonly type?: string;
  readonly code?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly at?: string;
}

function errorText({ type = 'Error', code, message, stack, at }: ShownError): string {
  if (stack !== undefined) return stack;
  if (message !== undefined) return `${type}: ${message}`;
  return [type, ...(code === undefined ? [] : [`(${code})`]), ...(at ? [`at ${at}`] : [])].join(
    ' ',
  );
}

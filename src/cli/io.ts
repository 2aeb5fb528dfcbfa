/**
 * What one call of the command line reads, writes and listens to. In `fleetq` it is the process; a test
 * hands over its own, so that calls in one process share nothing. Commands reach for `process` only where
 * they are about it: pods that are processes, the keyboard of `fleetq dev`.
 */
export interface Io {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: OutStream;
  readonly stderr: OutStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What relative paths on the command line are meant from. */
  readonly cwd: string;
  /** Where a command that stays hears SIGINT and SIGTERM. */
  readonly signals: Pick<NodeJS.EventEmitter, 'on' | 'once' | 'off'>;
}

export interface OutStream {
  write(text: string): boolean;
  once(event: 'drain', act: () => void): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  /** Where logs are written around the stream, so that the last line before a crash is out. */
  readonly fd?: number | undefined;
}

export function processIo(): Io {
  const { stdout, stderr, env } = process;
  return {
    // Opened when it is asked for: whoever has it open is kept up by it.
    get stdin() {
      return process.stdin;
    },
    ...{ stdout, stderr, env, cwd: process.cwd(), signals: process },
  };
}

/**
 * What one call of the command line reads, writes and listens to: that of the process in `fleetq`, that of
 * the test in a test, so that calls in one process share nothing. Commands use `process` itself only where
 * they start or end processes, and for the keyboard of `fleetq dev`.
 */
export interface Io {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: OutStream;
  readonly stderr: OutStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory that relative paths of the call start from. */
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
    // Not before a command reads it: an open stdin keeps the process up.
    get stdin() {
      return process.stdin;
    },
    ...{ stdout, stderr, env, cwd: process.cwd(), signals: process },
  };
}

/** Writes the log of a process that stays up, on stderr, as its configuration says. */
import type { Config } from '../config/index.ts';
import { openLogger } from '../telemetry/logger.ts';
import { writeLogs } from '../telemetry/logs.ts';
import type { Io } from './io.ts';
import { wantsColour } from './paint.ts';

/** Returns how to stop. */
export function writeLogsOf(
  { logLevel, logFormat, logPhases, telemetryDetail }: Config,
  { stderr, env }: Pick<Io, 'stderr' | 'env'>,
): () => void {
  const isPretty = logFormat === 'pretty' || (logFormat === 'auto' && stderr.isTTY === true);
  const hasColour = wantsColour(stderr, env);
  // A file descriptor is written without a buffer: the last line before a crash has to be out.
  const { fd } = stderr;
  const to = fd === undefined ? { write: (text: string) => void stderr.write(text) } : { fd };
  const logger = openLogger({ level: logLevel, isPretty, hasColour, ...to });
  return writeLogs(logger, { phases: logPhases, detail: telemetryDetail });
}

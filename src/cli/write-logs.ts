/** Writes the log of a process that stays up, on stderr, as its configuration says. */
import type { Config } from '../config/index.ts';
import { openLogger } from '../telemetry/logger.ts';
import { writeLogs } from '../telemetry/logs.ts';
import { wantsColour } from './paint.ts';

export function writeLogsOf({ logLevel, logFormat, logPhases, telemetryDetail }: Config): void {
  const isPretty =
    logFormat === 'pretty' || (logFormat === 'auto' && process.stderr.isTTY === true);
  const hasColour = wantsColour(process.stderr);
  const logger = openLogger({ level: logLevel, isPretty, hasColour });
  writeLogs(logger, { phases: logPhases, detail: telemetryDetail });
}

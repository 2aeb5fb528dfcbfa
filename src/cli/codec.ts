/** fleetq codec new-key: a key for FLEETQ_CODEC_KEYS, and nothing else on stdout. */
import { isoTime, newCodecKey, systemClock } from '../ground/index.ts';
import type { Execute } from './command.ts';
import { UsageError } from './errors.ts';
import { Exit } from './exit.ts';

export const newKey: Execute = async ({ output }, options) => {
  const id = options['id'] ?? `k${isoTime(systemClock.now()).slice(0, 10).replaceAll('-', '')}`;
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{1,32}$/.test(id)) {
    throw new UsageError("--id must be 1 to 32 letters, digits, '-' or '_'");
  }
  const line = newCodecKey(id);
  if (output.isJson) output.json({ id, key: line.slice(id.length + 1) });
  else output.line(line);
  output.note(
    'put it before the others in FLEETQ_CODEC_KEYS_FILE; whoever has it reads everything',
  );
  return Exit.ok;
};

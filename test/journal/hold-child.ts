/** Holds a journal until it is killed, or says why it cannot. */
import { writeSync } from 'node:fs';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { SqliteJournal } from '../../src/journal/index.ts';

try {
  const { dataDir } = JSON.parse(process.argv[2] ?? '{}') as { dataDir: string };
  SqliteJournal.open(dataDir, { clock: systemClock, random: systemRandom });
  writeSync(1, 'held\n');
  setInterval(() => undefined, 60_000);
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  writeSync(1, `${JSON.stringify({ code, message })}\n`);
}

/**
 * The process that is killed: starts what it is asked for on stdin, answers on stdout once the start
 * is durable, and executes runs of all shapes until somebody ends it.
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pause, systemClock } from '../../src/ground/index.ts';
import { createFleet } from '../../src/index.ts';
import { fastClock } from '../../test/support/fast-clock.ts';
import { GroupLedger } from '../../test/support/ledger.ts';
import { Scribe, shapes } from '../../test/support/shapes.ts';
import type { Ask, Reply } from './kills.ts';

const argument = JSON.parse(process.argv[2] ?? '{}') as {
  readonly dataDir: string;
  readonly ledger: string;
  readonly slots: number;
  readonly baseMs: number;
};

/** Sleeps of 20 s then last 50 ms, and still go through the journal's timers. */
const FASTER = 400;
const IN_MEMORY_MAX = 4 * argument.slots;

const scribe = new Scribe(new GroupLedger(argument.ledger));
const fleet = await createFleet({
  machines: Object.values(shapes(scribe)),
  dataDir: argument.dataDir,
  slots: argument.slots,
  clock: fastClock(argument.baseMs, FASTER),
  around: scribe.around,
});

const reply = (line: Reply): void => {
  writeSync(1, `${JSON.stringify(line)}\n`);
};
reply({ say: 'ready' });

createInterface({ input: process.stdin }).on('line', async (text) => {
  const ask = JSON.parse(text) as Ask;
  if (ask.ask === 'unfinished') {
    const count = fleet.runs({ status: 'unfinished', countMax: 1 }).length;
    return reply({ say: 'unfinished', count });
  }
  // Starts are not taken in faster than runs are executed, or most kills would find a mere queue.
  while (fleet.status.inMemory > IN_MEMORY_MAX) await pause(systemClock, 5);
  const { subject, shape } = ask;
  await fleet.startByName(shape, { subject }, { key: subject });
  reply({ say: 'started', subject });
});

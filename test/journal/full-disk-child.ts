/**
 * A fleet that starts runs until it is told to stop, and says on stdout what happens to it. Every
 * start that was acknowledged and every effect goes to a ledger on another file system.
 *
 *   in   'stop': start no more, wait for all, verify them, end
 *   out  {"event":"up"|"stalled"|"recovered"|"refused"|"done"|"dead"}, a line each
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { createFleet, defineMachine, listen } from '../../src/index.ts';
import { Ledger } from '../support/ledger.ts';

export interface FullDiskTask {
  readonly dataDir: string;
  readonly ledger: string;
  /** Starts of the process before have to end here too. */
  readonly awaited: readonly string[];
  readonly outputBytes: number;
}

const task = JSON.parse(process.argv[2] ?? '{}') as FullDiskTask;
const ledger = new Ledger(task.ledger);
let said = '';
const say = (event: string, more: object = {}) => {
  said = event;
  writeSync(1, `${JSON.stringify({ event, ...more })}\n`);
};

const heavy = defineMachine({
  name: 'disk/heavy',
  version: 1,
  input: z.object({ n: z.number() }),
  check: 'none',
  work: async ({ input }) => ({ n: input.n, ballast: 'x'.repeat(task.outputBytes) }),
  persist: async ({ runId, work }) => {
    ledger.write({ kind: 'persisted', run: runId });
    return work;
  },
});

listen('journal.stalled', ({ error }) => say('stalled', { message: error.message }));
listen('journal.recovered', () => say('recovered'));
listen('journal.alarm', (alarm) => say('alarm', alarm));

const fleet = await createFleet({ machines: [heavy], dataDir: task.dataDir, slots: 64 }).catch(
  (error: { code?: string; message: string }) => {
    say('dead', { code: error.code, message: error.message });
    process.exit(70);
  },
);
say('up');

let isStopping = false;
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'stop') isStopping = true;
});

const STARTS_AT_ONCE = 80;
let number = 0;

async function startRuns(): Promise<void> {
  while (!isStopping) {
    try {
      const run = await fleet.startLocal(heavy, { n: number++ });
      ledger.write({ kind: 'started', run: run.id });
      await run.result();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** While nothing can be written, a new start is refused at once, and nobody waits in vain. */
const knock = setInterval(() => {
  if (fleet.status.stalledBy === undefined) return;
  fleet.startLocal(heavy, { n: -1 }).catch((error: { code?: string }) => {
    if (said !== 'refused') say('refused', { code: error.code });
  });
}, 50);

const results = task.awaited.map((id) => fleet.runById(id).result());
await Promise.all([...results, ...Array.from({ length: STARTS_AT_ONCE }, startRuns)]);
clearInterval(knock);
say('done');
await fleet.drain();
process.exit(0);

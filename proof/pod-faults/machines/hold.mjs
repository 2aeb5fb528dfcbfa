/** What the pods here execute: a run that stands in its `work` for as long as is asked, and notes that outside. */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineMachine } from 'fleetq';
import * as z from 'zod';

/** A file that no data directory contains; one line is one write, so that processes may share it. */
function note(what, run) {
  const ledger = process.env.FAULTS_LEDGER;
  if (ledger) appendFileSync(ledger, `${JSON.stringify({ what, run, pid: process.pid })}\n`);
}

export const holding = (name) =>
  defineMachine({
    name,
    version: 1,
    input: z.object({ ms: z.int(), padding: z.string().optional() }),
    check: 'none',
    work: async ({ input, runId }) => {
      note('started', runId);
      await sleep(input.ms);
      note('worked', runId);
      return input.ms;
    },
  });

export const hold = holding('faults/hold');

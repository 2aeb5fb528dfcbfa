/**
 * What both directories of machine code share: phases that write into a ledger outside of FleetQ, synced
 * to the disk before they go on, which version of which machine did what, and from which code.
 */
import { fsync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';

const PLACE = process.env.FLEETQ_DEPLOYS_LEDGER;
/** Of a hundred phases so many are long enough for a drain to have to wait for them. */
const LONG_IN_A_HUNDRED = 3;

export const input = z.object({ n: z.int(), restMs: z.int() });
export const rest = ({ input: { restMs } }) => restMs;

let fd;
let waiting = [];
let isSyncing = false;

function sync() {
  if (isSyncing || waiting.length === 0) return;
  isSyncing = true;
  const served = waiting;
  waiting = [];
  fsync(fd, (error) => {
    if (error) throw error;
    isSyncing = false;
    for (const resolve of served) resolve();
    sync();
  });
}

/** Whoever only looks at machines has no ledger. */
function write(line) {
  if (PLACE === undefined) return undefined;
  fd ??= openSync(join(PLACE, `${process.pid}.ledger`), 'a', 0o600);
  writeSync(fd, `${JSON.stringify(line)}\n`);
  return new Promise((resolve) => {
    waiting.push(resolve);
    sync();
  });
}

function spanMs(n, phase) {
  const number = n * 7919 + phase.length * 104_729;
  return number % 100 < LONG_IN_A_HUNDRED ? 300 + (number % 300) : number % 40;
}

/** `step(name)`: its four phases, written down as those of this version, from this code. */
export function scribe(code, machine, version) {
  return (step) => {
    const note = async (phase, { runId, attempt, fencingToken, input: { n } }) => {
      const at = Date.now();
      await write({ task: runId, machine, version, code, step, phase, attempt, fencingToken, at });
      // The effect has happened, and nobody knows of it: a drain has to wait for that.
      if (phase !== 'check') await sleep(spanMs(n, phase));
    };
    return {
      check: (context) => note('check', context),
      work: async (context) => {
        await note('work', context);
        return { made: context.input.n, version };
      },
      validate: (context) => note('validate', context),
      persist: async (context) => {
        await note('persist', context);
        return { kept: context.input.n, version };
      },
    };
  };
}

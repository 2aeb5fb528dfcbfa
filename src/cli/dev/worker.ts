/**
 * The worker process of `fleetq dev`: holds the journal, executes runs, answers on the socket. It is
 * a process of its own so that it can be killed with SIGKILL at any instant.
 */
import { readConfig } from '../../config/index.ts';
import { describeError, FleetqError } from '../../ground/index.ts';
import { governProcess } from '../../process.ts';
import { listen } from '../../telemetry/events.ts';
import { openLogger } from '../../telemetry/logger.ts';
import { writeLogs } from '../../telemetry/logs.ts';
import { exitOf } from '../exit.ts';
import { openFleet } from '../host.ts';
import { loadMachines } from '../machines.ts';
import { wantsColour } from '../paint.ts';
import type { WorkerMessage } from './messages.ts';

function tellSupervisor(message: WorkerMessage): void {
  // A supervisor that has just died hears nothing: what follows is told by 'disconnect'.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

/** What happens while the journal is opened is told once the process is up: first things first. */
let untold: WorkerMessage[] | undefined = [];

function tellOnceUp(message: WorkerMessage): void {
  if (untold) untold.push(message);
  else tellSupervisor(message);
}

function tellUp(ready: WorkerMessage): void {
  const messages = untold ?? [];
  untold = undefined;
  for (const message of [ready, ...messages]) tellSupervisor(message);
}

function forwardEvents(): void {
  listen('run.started', ({ run, machine }) => tellOnceUp({ kind: 'begun', run, machine }));
  listen('run.resumed', ({ run, machine, state, attempt, wasInterrupted }) =>
    // The interruption counts as an attempt, and is about to be recorded.
    tellOnceUp({
      kind: 'resumed',
      run,
      machine,
      state,
      attempt: attempt + (wasInterrupted ? 1 : 0),
    }),
  );
  listen('run.finished', ({ run, machine, outcome, state, reason, elapsedMs }) =>
    tellOnceUp({ kind: 'finished', run, machine, outcome, state, reason, elapsedMs }),
  );
}

async function work(): Promise<void> {
  const config = await readConfig({ flags: {}, env: process.env, cwd: process.cwd() });
  const isPretty =
    config.logFormat === 'pretty' || (config.logFormat === 'auto' && process.stderr.isTTY === true);
  const hasColour = wantsColour(process.stderr);
  writeLogs(openLogger({ level: config.logLevel, isPretty, hasColour }));
  forwardEvents();
  const { machines } = await loadMachines(config, process.cwd());
  const fleet = await openFleet(config, machines);
  governProcess(fleet, { drainBudget: config.drainBudget });
  // Without its supervisor nobody would ever end it.
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const { boot, journal } = fleet.status;
  tellUp({ kind: 'ready', boot, journal });
}

work().catch((thrown: unknown) => {
  const error = describeError(thrown);
  const known = thrown instanceof FleetqError ? thrown : undefined;
  tellSupervisor({ kind: 'refused', error, hint: known?.hint });
  process.exitCode = exitOf(known?.code ?? 'FLEETQ_INTERNAL');
  process.disconnect?.();
});

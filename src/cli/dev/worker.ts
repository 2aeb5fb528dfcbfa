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
import { openHost } from '../host.ts';
import { loadMachines } from '../machines.ts';
import { wantsColour } from '../output.ts';
import type { WorkerMessage } from './messages.ts';

function tellSupervisor(message: WorkerMessage): void {
  // A supervisor that has just died hears nothing: what follows is told by 'disconnect'.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function forwardEvents(): void {
  listen('run.resumed', ({ run, machine, state, attempt, wasInterrupted }) =>
    // The interruption counts as an attempt, and is about to be recorded.
    tellSupervisor({
      kind: 'resumed',
      run,
      machine,
      state,
      attempt: attempt + (wasInterrupted ? 1 : 0),
    }),
  );
  listen('run.finished', ({ run, machine, outcome, state, reason, elapsedMs }) =>
    tellSupervisor({ kind: 'finished', run, machine, outcome, state, reason, elapsedMs }),
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
  const { fleet, server } = await openHost(config, machines);
  governProcess(fleet, { drainBudget: config.drainBudget, afterDrain: () => server.stop() });
  // Without its supervisor nobody would ever end it.
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const { boot, journal } = fleet.status;
  tellSupervisor({ kind: 'ready', boot, journal });
}

work().catch((thrown: unknown) => {
  const error = describeError(thrown);
  const known = thrown instanceof FleetqError ? thrown : undefined;
  tellSupervisor({ kind: 'refused', error, hint: known?.hint });
  process.exitCode = exitOf(known?.code ?? 'FLEETQ_INTERNAL');
  process.disconnect?.();
});

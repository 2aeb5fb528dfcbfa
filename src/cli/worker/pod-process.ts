/**
 * One pod as a process of its own, started by `fleetq worker --pods` and `fleetq dev`: it can be
 * killed at any instant, and tells whoever started it what it does.
 */
import { readConfig } from '../../config/index.ts';
import { describeError, FleetqError } from '../../ground/index.ts';
import { listen } from '../../telemetry/events.ts';
import { exitOf } from '../exit.ts';
import type { PodMessage } from './messages.ts';
import { runPod } from './run-pod.ts';

function tellStarter(message: PodMessage, onSent: () => void = () => undefined): void {
  // Whoever started us and has just died hears nothing: what follows is told by 'disconnect'.
  if (process.connected) process.send?.(message, undefined, undefined, onSent);
  else onSent();
}

/** What happens while the journal is opened is told once the process is up: first things first. */
let untold: PodMessage[] | undefined = [];

function tellOnceUp(message: PodMessage): void {
  if (untold) untold.push(message);
  else tellStarter(message);
}

function tellUp(ready: PodMessage): void {
  const messages = untold ?? [];
  untold = undefined;
  for (const message of [ready, ...messages]) tellStarter(message);
}

function forwardEvents(): void {
  listen('journal.awaited', ({ holder }) => tellStarter({ kind: 'waiting', holder }));
  listen('task.claimed', ({ run, machine, version }) =>
    tellOnceUp({ kind: 'claimed', run, machine, version }),
  );
  listen('run.started', ({ run, machine, version }) =>
    tellOnceUp({ kind: 'begun', run, machine, version }),
  );
  listen('run.resumed', ({ run, machine, version, state, attempt, wasInterrupted }) => {
    // The interruption counts as an attempt, and is about to be recorded.
    const tries = attempt + (wasInterrupted ? 1 : 0);
    tellOnceUp({ kind: 'resumed', run, machine, version, state, attempt: tries });
  });
  listen('run.finished', ({ run, machine, version, outcome, state, reason, elapsedMs }) =>
    tellOnceUp({ kind: 'finished', run, machine, version, outcome, state, reason, elapsedMs }),
  );
  listen('task.settled', ({ run, to }) => tellOnceUp({ kind: 'settled', run, to }));
}

async function work(): Promise<void> {
  // Without whoever started it nobody would ever end it. That one may have died while this was loaded.
  const end = () => process.kill(process.pid, 'SIGTERM');
  process.on('disconnect', end);
  if (!process.connected) end();
  const config = await readConfig({ flags: {}, env: process.env, cwd: process.cwd() });
  forwardEvents();
  const { fleet, health } = await runPod(config);
  const { boot, journal, pod } = fleet.status;
  tellUp({ kind: 'ready', boot, journal, pod: pod?.pod, health });
}

work().catch((thrown: unknown) => {
  const error = describeError(thrown);
  const known = thrown instanceof FleetqError ? thrown : undefined;
  const mayPass = known?.verdict === 'retry';
  const code = exitOf(known?.code ?? 'FLEETQ_INTERNAL');
  // What a machine's module has left open must not keep up a process that cannot begin.
  tellStarter({ kind: 'refused', error, hint: known?.hint, mayPass }, () => process.exit(code));
});

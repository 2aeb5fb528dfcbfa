/** A process that executes: machines, journal, socket, probes and, where there is a store, a pod. */
import { type HealthOptions, HealthServer } from '../../admin/index.ts';
import type { Config } from '../../config/index.ts';
import { pause, showDuration, systemClock } from '../../ground/index.ts';
import type { Fleet } from '../../main.ts';
import { governProcess } from '../../process.ts';
import { listen } from '../../telemetry/events.ts';
import { awaitedText } from '../../telemetry/fleet-lines.ts';
import type { Metrics } from '../../telemetry/metrics/index.ts';
import { whyNotReady } from '../../telemetry/readiness.ts';
import { openFleet } from '../host.ts';
import { loadMachines } from '../machines.ts';
import { writeLogsOf } from '../write-logs.ts';
import { keepSignals } from './early-signals.ts';

export interface RunningPod {
  readonly fleet: Fleet;
  /** Where probes are answered; undefined where nobody asked for that. */
  readonly health: string | undefined;
}

/** Only so that the process stays up while nothing else is to be done. */
const IDLE_MS = 3_600_000;

/** Resolves when it has taken its place; SIGTERM then drains it and ends the process. */
export async function runPod(config: Config): Promise<RunningPod> {
  const letGo = keepSignals();
  writeLogsOf(config, process);
  let fleet: Fleet | undefined;
  let isEnding = false;
  let rival: string | undefined;
  listen('journal.alarm', ({ kind, message }) => {
    if (kind === 'elsewhere') rival = message;
  });
  listen('pod.awaited', (waits) => {
    rival = awaitedText(waits);
  });
  for (const name of ['process.signalled', 'engine.draining', 'pod.draining'] as const) {
    listen(name, () => {
      isEnding = true;
    });
  }
  const whyNot = () =>
    isEnding ? 'draining' : fleet ? whyNotReady(fleet.status) : (rival ?? 'starting');
  // From here on, so that what happens while it starts is counted.
  const metrics = await metricsOf(config, () => fleet, whyNot);
  const answering = () =>
    answerProbes(config, metrics, { whyNotReady: whyNot, remark: () => aloneText(fleet) });
  // Where it takes over, the one before it answers there until it is gone.
  let health = config.handover === undefined ? await answering() : undefined;
  const ending = { drainBudget: config.drainBudget, afterDrain: () => health?.stop() };
  const found = await loadMachines(config, config.cwd);
  fleet = await openFleet(config, found, {
    hasStore: true,
    takesOver: true,
    listens: true,
    modules: found.modules,
  });
  governProcess(fleet, ending);
  letGo();
  health ??= await oncePossible(answering);
  stayUp();
  return { fleet, health: health?.at };
}

/** Where nobody can ask for them nothing is counted, and what counts is not even loaded. */
async function metricsOf(
  { healthListen, store }: Config,
  fleet: () => Fleet | undefined,
  whyNotReady: () => string | undefined,
): Promise<Metrics | undefined> {
  if (healthListen === undefined) return undefined;
  const { openMetrics } = await import('../../telemetry/metrics/index.ts');
  // Without a store there is no pod that could be ready.
  return openMetrics({ fleet, whyNotReady: store === undefined ? undefined : whyNotReady });
}

/** Before anything else is opened, so that a start that takes long is seen as one. */
async function answerProbes(
  { healthListen: listen }: Config,
  metrics: Metrics | undefined,
  told: Pick<HealthOptions, 'whyNotReady' | 'remark'>,
): Promise<{ readonly at: string; stop(): Promise<void> } | undefined> {
  if (listen === undefined || !metrics) return undefined;
  const server = new HealthServer({ listen, metrics, ...told });
  return { at: await server.start(), stop: () => server.stop() };
}

const PORT_MS_MAX = 30_000;
const PORT_LOOK_MS = 50;

/** The port is free when the process before has ended, which is a moment after its journal is. */
async function oncePossible<T>(act: () => Promise<T>): Promise<T> {
  const untilMs = systemClock.monotonicMs() + PORT_MS_MAX;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      const { code } = (error as { cause?: { code?: unknown } }).cause ?? {};
      if (code !== 'EADDRINUSE' || systemClock.monotonicMs() >= untilMs) throw error;
    }
    await pause(systemClock, PORT_LOOK_MS);
  }
}

/** It takes no claims, and starts what is started on its host: nothing that a restart would mend. */
function aloneText(fleet: Fleet | undefined): string | undefined {
  const aloneMs = fleet?.status.pod?.aloneMs;
  if (aloneMs === undefined) return undefined;
  const ago = showDuration(Math.round(aloneMs / 1_000) * 1_000);
  return `the store has not answered for ${ago} past the deadline: claimed runs wait, local ones go on`;
}

function stayUp(): void {
  systemClock.after(IDLE_MS, stayUp);
}

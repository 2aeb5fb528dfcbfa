/**
 * fleetq worker [--pods N]: executes runs, until SIGTERM. Without --pods this process itself is the
 * pod, which suits a container; with it, each pod is a process of its own below the data directory,
 * started again when it dies.
 *
 *   fleetq worker --pods 3 ──┬─▶ pod-1   <dataDir>/pod-1
 *          SIGTERM to all    ├─▶ pod-2   <dataDir>/pod-2
 *                            └─▶ pod-3   <dataDir>/pod-3
 */
import { hostname } from 'node:os';
import type { Config } from '../../config/index.ts';
import { isoTime, parseDuration, showDuration, systemClock } from '../../ground/index.ts';
import type { Context, Execute } from '../command.ts';
import { RemoteError, UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { podDirectory } from '../fleet/local-pods.ts';
import type { Output } from '../output.ts';
import { countOf } from '../runs.ts';
import { environmentOf, nextListen } from './environment.ts';
import { runPod } from './run-pod.ts';
import { Supervisor, type SupervisorEvent } from './supervisor.ts';

const PODS_MAX = 256;
export const STOP_SLACK_MS = 5_000;
const SECOND_SIGNAL_MS = 500;

export const worker: Execute = async (context, options) => {
  const { config, output } = context;
  if (options['pods'] === undefined) return runHere(config, output);
  const count = countOf(options['pods'], '--pods', PODS_MAX);
  if (config.store === undefined && count > 1) {
    throw new UsageError(`${count} pods need a store to share`, {
      hint: 'name one with --store or FLEETQ_STORE_URL, like sqlite:./fleet.db',
    });
  }
  return new Pods(context, count).run();
};

async function runHere(config: Config, output: Output): Promise<ExitCode> {
  const { fleet, health } = await runPod(config);
  const { boot, journal, pod } = fleet.status;
  if (output.isJson) {
    const at = isoTime(systemClock.now());
    const { listening } = fleet;
    const of = { pid: process.pid, boot, journal, pod: pod?.pod, health, listening };
    const ready = { at, kind: 'ready', ...of };
    output.line(JSON.stringify(ready));
  } else {
    const as = pod?.pod === undefined ? '' : ` as pod ${pod.pod} (${pod.name})`;
    output.note(`up${as}${probes(health)}${answers(fleet.listening)}; SIGTERM drains and ends it`);
  }
  // From here on signals end the process.
  return new Promise(() => undefined);
}

function probes(health: string | undefined): string {
  return health === undefined ? '' : `, probes on http://${health}`;
}

function answers(listening: string | undefined): string {
  return listening === undefined ? '' : `, answering on http://${listening}`;
}

class Pods {
  readonly #config: Config;
  readonly #output: Output;
  readonly #pods: readonly { readonly name: string; readonly supervisor: Supervisor }[];
  #hasBeenUp = false;
  #signals = 0;
  #end: (code: ExitCode) => void = () => undefined;

  constructor({ config, output }: Context, count: number) {
    this.#config = config;
    this.#output = output;
    const host = config.podName ?? hostname();
    this.#pods = Array.from({ length: count }, (_, index) => {
      const number = index + 1;
      const name = `${host}-${number}`;
      const supervisor = new Supervisor({
        clock: systemClock,
        env: environmentOf(config, {
          dataDir: podDirectory(config.dataDir, number),
          podName: name,
          healthListen: nextListen(config.healthListen, number),
          listen: nextListen(config.listen, number),
        }),
        onLog: undefined,
        onEvent: (event) => this.#hear(name, event),
      });
      return { name, supervisor };
    });
  }

  run(): Promise<ExitCode> {
    return new Promise((resolve) => {
      const onSignal = (signal: 'SIGINT' | 'SIGTERM') => this.#stop(signal);
      process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
      this.#end = (code) => {
        process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
        resolve(code);
      };
      for (const { supervisor } of this.#pods) supervisor.start();
    });
  }

  #hear(name: string, event: SupervisorEvent): void {
    if (this.#output.isJson && TOLD.has(event.kind)) {
      const at = isoTime(systemClock.now());
      this.#output.line(JSON.stringify({ at, name, ...event }));
    }
    if (event.kind === 'ready') {
      this.#hasBeenUp = true;
      const up = `up after ${showDuration(event.elapsedMs)}`;
      this.#say(`${name} (process ${event.pid}) ${up}${probes(event.health)}`);
    } else if (event.kind === 'died') {
      this.#onDeath(name, event);
    } else if (event.kind === 'refused') {
      this.#say(`${name} cannot begin: ${event.error.message}`);
      // What is wrong with the first is wrong with all of them, unless it may pass.
      if (!this.#hasBeenUp && !event.mayPass) void this.#giveUp(event);
    }
  }

  #onDeath(name: string, event: Extract<SupervisorEvent, { kind: 'died' }>): void {
    const { againInMs: again } = event;
    const next = again === undefined ? '' : `, starting again in ${showDuration(again)}`;
    this.#say(`${name} (process ${event.pid}) is gone: ${event.how}${next}`);
  }

  async #giveUp(event: Extract<SupervisorEvent, { kind: 'refused' }>): Promise<void> {
    if (this.#signals > 0) return;
    this.#signals += 1;
    await this.#stopAll(STOP_SLACK_MS);
    const { error, hint } = event;
    const problem = { code: error.code ?? 'FLEETQ_INTERNAL', detail: error.message };
    this.#end(this.#output.failure(new RemoteError(hint ? { ...problem, hint } : problem)));
  }

  #stop(signal: 'SIGINT' | 'SIGTERM'): void {
    this.#signals += 1;
    if (this.#signals === 1) {
      this.#say('draining: phases in hand finish, other pods take the rest');
      const budgetMs = parseDuration(this.#config.drainBudget) ?? 0;
      this.#stopAll(budgetMs + STOP_SLACK_MS).then(() => this.#end(Exit.ok));
      return;
    }
    const code = signal === 'SIGINT' ? Exit.interrupted : Exit.terminated;
    this.#stopAll(SECOND_SIGNAL_MS).then(() => this.#end(code));
  }

  async #stopAll(patienceMs: number): Promise<void> {
    await Promise.all(this.#pods.map(({ supervisor }) => supervisor.stop(patienceMs)));
  }

  #say(text: string): void {
    if (!this.#output.isJson) this.#output.note(text);
  }
}

/** What pods say of single runs is in their logs. */
const TOLD: ReadonlySet<string> = new Set(['started', 'ready', 'died', 'refused']);

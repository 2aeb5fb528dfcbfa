/**
 * fleetq dev: three pods on a store of their own, and a picture that shows how runs survive the death
 * of any of them.
 *
 *   dev (this process) ──SIGKILL on k──▶ pod-1, pod-2, pod-3   <dataDir>/pod-N: journal, socket
 *        │ enqueues samples, counts            │ claim, settle, take over
 *        └──────────▶ <dataDir>/fleet.db ◀─────┘
 *                     <dataDir>/dev-ledger ◀── one synced line for each run that was done
 */
import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import { parseDuration, type RunId, systemClock } from '../../ground/index.ts';
import { placeOf } from '../../journal/index.ts';
import { Registry } from '../../machine/index.ts';
import { deskOfStore } from '../admin/admin.ts';
import { whileServing } from '../admin/beside.ts';
import type { Context, Execute } from '../command.ts';
import { RemoteError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { podDirectory } from '../fleet/local-pods.ts';
import { withTasks } from '../fleet/open.ts';
import { loadFrom, machineFiles, machinesPlace, SAMPLES } from '../machines.ts';
import type { Output } from '../output.ts';
import { SocketClient } from '../socket-client.ts';
import { environmentOf } from '../worker/environment.ts';
import { Supervisor, type SupervisorEvent } from '../worker/supervisor.ts';
import { STOP_SLACK_MS } from '../worker/worker.ts';
import { Board } from './board.ts';
import { openDevStore, timesOf } from './dev-store.ts';
import { Load } from './load.ts';
import { Reloader } from './reloader.ts';
import { Samples } from './samples.ts';
import { type TableOptions, TableView } from './table-view.ts';
import { Verifier, verdictText } from './verifier.ts';
import { LinesView, type View } from './view.ts';
import { Watcher } from './watcher.ts';

const POD_COUNT = 3;
const BURST_COUNT = 5;
const SECOND_SIGNAL_MS = 500;
const LOG_LINES_MAX = 20;
/** A pod whose runs nobody takes up is brought back all the same. */
const AWAY_MS_MAX = 20_000;
/** It is seen to be gone before it comes back. */
const AWAY_MS_MIN = 1_500;

export const dev: Execute = async (context, options) => {
  const times = timesOf(context.config);
  const { origin, from } = machinesPlace(context.config, process.cwd()) ?? SAMPLES;
  const { machines } = await loadFrom({ from });
  const address = await openDevStore(context.config, options);
  const config = { ...context.config, ...times, store: address, machines: from };
  // In a project of one's own only its machines run, and only when somebody enqueues a task.
  const samples = origin === 'samples' ? await Samples.open(config.dataDir) : undefined;
  try {
    return await withTasks(config, (tasks, store) => {
      const verifier = new Verifier(store, ledgerOf(config));
      const registry = new Registry(machines);
      const desk = deskOfStore(config, registry, tasks, store);
      const { output } = context;
      const { silence } = times;
      const makeLoad: MakeLoad = (on) =>
        new Load({ store, tasks, registry, verifier, samples, silence, ...on });
      const find: Parts['find'] = (runs) => store.find(runs);
      const parts = { config, output, verifier, samples, from, find, makeLoad };
      return whileServing(config, desk, output, (pages) => new Dev({ ...parts, pages }).run());
    });
  } finally {
    await samples?.close();
  }
};

const ledgerOf = ({ dataDir }: Config) => join(dataDir, 'dev-ledger');

type MakeLoad = (
  on: Pick<ConstructorParameters<typeof Load>[0], 'board' | 'say' | 'onLooked'>,
) => Load;

interface Parts extends Pick<Context, 'config' | 'output'> {
  readonly verifier: Verifier;
  readonly samples: Samples | undefined;
  /** Where the machines are. */
  readonly from: string;
  readonly find: TableOptions['find'];
  readonly makeLoad: MakeLoad;
  /** The address of the admin UI, or why there is none. */
  readonly pages: string;
}

class Dev {
  readonly #config: Config;
  readonly #output: Output;
  readonly #verifier: Verifier;
  readonly #samples: Samples | undefined;
  readonly #load: Load;
  readonly #board: Board;
  readonly #supervisors = new Map<string, Supervisor>();
  readonly #clients = new Map<string, SocketClient>();
  readonly #view: View;
  readonly #reloader: Reloader;
  readonly #watcher: Watcher;
  readonly #logLines: string[] = [];
  /** Killed by a key, and not back yet. */
  readonly #away = new Set<string>();
  #hasBeenUp = false;
  #stopCount = 0;
  #end: (code: ExitCode) => void = () => undefined;

  constructor(parts: Parts) {
    const { config, output, verifier, samples, from, makeLoad } = parts;
    this.#config = config;
    this.#output = output;
    this.#verifier = verifier;
    this.#samples = samples;
    const names = Array.from({ length: POD_COUNT }, (_, index) => `pod-${index + 1}`);
    this.#board = new Board(names);
    const isLive = output.isTerminal && !output.isJson && process.stdin.isTTY === true;
    for (const [index, name] of names.entries()) {
      const directory = podDirectory(config.dataDir, index + 1);
      this.#clients.set(name, new SocketClient(placeOf(directory).socket, { keepAlive: true }));
      this.#supervisors.set(name, this.#supervisorOf(name, directory, isLive));
    }
    this.#view = isLive ? this.#tableView(parts) : new LinesView(output, this.#board);
    this.#load = makeLoad({
      board: this.#board,
      say: (text) => this.#view.say(text),
      onLooked: () => this.#bringBack(),
    });
    this.#reloader = new Reloader({
      clock: systemClock,
      pods: names,
      handOver: (name) => this.#supervisors.get(name)!.handOver(this.#drainMs),
      tell: (event) => this.#view.hear(event),
    });
    this.#watcher = new Watcher({
      clock: systemClock,
      files: () => machineFiles(from),
      onChange: (files) => this.#reloader.want(files),
    });
  }

  /** What a pod may take to drain, and to end. */
  get #drainMs(): number {
    return (parseDuration(this.#config.drainBudget) ?? 0) + STOP_SLACK_MS;
  }

  #supervisorOf(name: string, directory: string, isLive: boolean): Supervisor {
    const { sources, logLevel, logFormat, telemetryDetail } = this.#config;
    const env = environmentOf(this.#config, {
      dataDir: directory,
      podName: name,
      healthListen: undefined,
      listen: undefined,
      // Whoever develops a machine changes it more often than its version.
      changedMachines: this.#config.changedMachines ?? 'warn',
      // Samples fail and are retried on purpose, which is no news.
      logLevel: sources.logLevel === 'default' && this.#samples !== undefined ? 'error' : logLevel,
      logFormat: sources.logFormat === 'default' && isLive ? 'pretty' : logFormat,
      // It is one's own terminal, and what went wrong is what one wants to read.
      telemetryDetail: sources.telemetryDetail === 'default' ? 'full' : telemetryDetail,
    });
    return new Supervisor({
      clock: systemClock,
      env: { ...env, FLEETQ_DEV_LEDGER: ledgerOf(this.#config) },
      // A line of log would tear the picture; where stderr leads elsewhere, it may go there.
      onLog: isLive && process.stderr.isTTY ? (line) => this.#keepLog(line) : undefined,
      onEvent: (event) => this.#hear(name, event),
    });
  }

  #tableView({ pages, find }: Parts): TableView {
    return new TableView({
      pages,
      find,
      store: this.#config.store ?? '',
      board: this.#board,
      verdict: () => this.#verifier.verdict,
      clients: this.#clients,
      hasSamples: this.#samples !== undefined,
      onKey: (key) => this.#press(key),
    });
  }

  async run(): Promise<ExitCode> {
    const ended = new Promise<ExitCode>((resolve) => {
      this.#end = resolve;
    });
    const onSignal = (signal: 'SIGINT' | 'SIGTERM') => this.#stop(signal);
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
    this.#view.open();
    const { store } = this.#config;
    this.#view.say(
      this.#samples
        ? `sample tasks are enqueued; list them with: fleetq runs --store ${store}`
        : `enqueue a task with: fleetq enqueue <machine> --input <json> --store ${store}`,
    );
    for (const supervisor of this.#supervisors.values()) supervisor.start();
    this.#watcher.start();
    await this.#load.start();
    const code = await ended;
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    for (const client of this.#clients.values()) client.close();
    return code;
  }

  #hear(name: string, event: SupervisorEvent): void {
    if (event.kind === 'ready') {
      this.#hasBeenUp = true;
      this.#away.delete(name);
    }
    if (event.kind === 'claimed') this.#verifier.acknowledge(event.run as RunId);
    if (event.kind === 'refused' && !this.#hasBeenUp) return void this.#giveUp(event);
    const takenOver = this.#board.hear(name, event, systemClock.monotonicMs());
    // How it came to a pod is told by the take-over; how it died, by the key that killed it.
    const isTold = takenOver !== undefined || (event.kind === 'died' && this.#away.has(name));
    if (!isTold) this.#view.hear({ ...event, by: name });
    if (takenOver) this.#view.hear(takenOver);
    const isDoomed = event.kind === 'died' && !this.#away.has(name) && this.#stopCount === 0;
    if (isDoomed) for (const line of this.#logLines.splice(0)) this.#view.say(line);
  }

  #press(key: string): void {
    if (key === 'q' || key === '\u0003' || key === '\u0004') this.#stop('SIGINT');
    else if (key === 's') this.#load.enqueue(BURST_COUNT);
    else if (key === 'k') this.#kill();
    else if (key === 'd') this.#reloader.want([]);
    else if (key === 't' && this.#samples) this.#view.say(this.#samples.toggleRefusals());
  }

  #kill(): void {
    const pod = this.#board.busiest();
    if (!pod || this.#stopCount > 0)
      return this.#view.say('one pod has to be left: wait for the others');
    this.#away.add(pod.name);
    const pid = this.#supervisors.get(pod.name)?.kill();
    this.#view.hear({ kind: 'killed', name: pod.name, pid, holds: pod.holds.size });
  }

  /** A pod comes back when what it held is in other hands, so that its runs are seen to move. */
  #bringBack(): void {
    const nowMs = systemClock.monotonicMs();
    for (const name of this.#away) {
      const { state, sinceMs, orphans } = this.#board.pod(name);
      const awayMs = nowMs - sinceMs;
      if (state !== 'killed' || awayMs < AWAY_MS_MIN) continue;
      if (orphans.size > 0 && awayMs < AWAY_MS_MAX) continue;
      this.#away.delete(name);
      this.#view.hear({ kind: 'rescued', name, afterMs: awayMs });
      this.#view.hear({ kind: 'verified', ...this.#verifier.verdict });
      this.#supervisors.get(name)?.start();
    }
  }

  async #giveUp(event: Extract<SupervisorEvent, { kind: 'refused' }>): Promise<void> {
    if (this.#stopCount > 0) return;
    this.#stopCount++;
    this.#load.stop();
    await this.#stopAll(STOP_SLACK_MS);
    await this.#load.lastLook();
    const { error, hint } = event;
    const problem = { code: error.code ?? 'FLEETQ_INTERNAL', detail: error.message };
    this.#view.close(verdictText(this.#verifier.verdict));
    this.#end(this.#output.failure(new RemoteError(hint ? { ...problem, hint } : problem)));
  }

  #stop(signal: 'SIGINT' | 'SIGTERM'): void {
    this.#stopCount++;
    if (this.#stopCount === 1) {
      this.#view.say('draining: phases in hand finish, the rest goes on next time');
      return void this.#finish(this.#drainMs, Exit.ok);
    }
    this.#finish(SECOND_SIGNAL_MS, signal === 'SIGINT' ? Exit.interrupted : Exit.terminated);
  }

  async #finish(patienceMs: number, code: ExitCode): Promise<void> {
    this.#load.stop();
    await this.#stopAll(patienceMs);
    await this.#load.lastLook();
    const { verdict } = this.#verifier;
    if (this.#output.isJson) this.#view.hear({ kind: 'verified', ...verdict });
    this.#view.close(verdictText(verdict));
    const isSound = verdict.lost.length + verdict.doubled.length === 0;
    this.#end(isSound ? code : Exit.failure);
  }

  async #stopAll(patienceMs: number): Promise<void> {
    this.#watcher.stop();
    this.#reloader.stop();
    await Promise.all([...this.#supervisors.values()].map((each) => each.stop(patienceMs)));
  }

  #keepLog(line: string): void {
    this.#logLines.push(line.slice(0, 500));
    if (this.#logLines.length > LOG_LINES_MAX) this.#logLines.shift();
  }
}

/**
 * fleetq dev: a worker process with sample runs, and a table that shows how they survive its death.
 *
 *   supervisor (this process) ──SIGKILL on k──▶ worker (journal, engine, socket)
 *        └── starts sample runs, reads runs ──▶ <dataDir>/fleetq.sock
 */
import { type Config, SETTING_NAMES, type Settings, variableOf } from '../../config/index.ts';
import { parseDuration, systemClock } from '../../ground/index.ts';
import { placeOf } from '../../journal/index.ts';
import type { Execute } from '../command.ts';
import { RemoteError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import { machinesPlace } from '../machines.ts';
import type { Output } from '../output.ts';
import { SocketClient } from '../socket-client.ts';
import { Samples } from './samples.ts';
import { Supervisor, type SupervisorEvent } from './supervisor.ts';
import { TableView } from './table-view.ts';
import { LinesView, type View } from './view.ts';

const START_EVERY_MS = 450;
const BURST_COUNT = 5;
/** Sample runs are not started while so many are unfinished: the load is steady, not growing. */
const UNFINISHED_MAX = 24;
const STOP_SLACK_MS = 5_000;
const SECOND_SIGNAL_MS = 500;
const LOG_LINES_MAX = 20;

export const dev: Execute = async ({ config, output }) => {
  const { origin } = machinesPlace(config, process.cwd());
  // In a project of one's own only its machines run, and only when somebody starts them.
  const samples = origin === 'shipped' ? await Samples.open(config.dataDir) : undefined;
  try {
    return await new Dev(config, output, samples).run();
  } finally {
    await samples?.close();
  }
};

class Dev {
  readonly #config: Config;
  readonly #output: Output;
  readonly #samples: Samples | undefined;
  readonly #client: SocketClient;
  readonly #supervisor: Supervisor;
  readonly #view: View;
  readonly #logLines: string[] = [];
  #unfinished = 0;
  #hasBeenUp = false;
  #isUp = false;
  #stopCount = 0;
  #end: (code: ExitCode) => void = () => undefined;

  constructor(config: Config, output: Output, samples: Samples | undefined) {
    this.#config = config;
    this.#output = output;
    this.#samples = samples;
    this.#client = new SocketClient(placeOf(config.dataDir).socket, { keepAlive: true });
    const isLive = output.isTerminal && !output.isJson && process.stdin.isTTY === true;
    this.#view = isLive
      ? new TableView({
          dataDir: config.dataDir,
          client: this.#client,
          hasSamples: samples !== undefined,
          onKey: (key) => this.#press(key),
        })
      : new LinesView(output);
    this.#supervisor = new Supervisor({
      clock: systemClock,
      env: workerEnvironment(config, {
        // Samples fail and are retried on purpose, which is no news.
        logLevel: samples ? 'error' : 'info',
        logFormat: isLive ? 'pretty' : 'auto',
      }),
      // A line of log would tear the table; where stderr leads elsewhere, it may go there.
      onLog: isLive && process.stderr.isTTY ? (line) => this.#keepLog(line) : undefined,
      onEvent: (event) => this.#hear(event),
    });
  }

  run(): Promise<ExitCode> {
    return new Promise((resolve) => {
      const onSignal = (signal: 'SIGINT' | 'SIGTERM') => this.#stop(signal);
      process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
      this.#end = (code) => {
        process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
        this.#view.close();
        this.#client.close();
        resolve(code);
      };
      this.#view.open();
      this.#view.say(
        this.#samples
          ? `sample runs start every ${START_EVERY_MS} ms; list them with: fleetq runs`
          : 'your machines are loaded; start a run with: fleetq start <machine> --input <json>',
      );
      this.#supervisor.start();
      if (this.#samples) this.#startSteadily();
    });
  }

  #hear(event: SupervisorEvent): void {
    if (event.kind === 'ready') {
      this.#isUp = this.#hasBeenUp = true;
    } else if (event.kind === 'died') {
      this.#isUp = false;
    } else if (event.kind === 'begun') {
      this.#unfinished++;
    } else if (event.kind === 'finished') {
      this.#unfinished = Math.max(0, this.#unfinished - 1);
    } else if (event.kind === 'refused' && !this.#hasBeenUp) {
      return void this.#giveUp(event);
    }
    this.#view.hear(event);
    const isDoomed = event.kind === 'died' && event.how !== 'SIGKILL' && this.#stopCount === 0;
    if (isDoomed) for (const line of this.#logLines.splice(0)) this.#view.say(line);
  }

  async #giveUp({ error, hint }: Extract<SupervisorEvent, { kind: 'refused' }>): Promise<void> {
    this.#stopCount++;
    await this.#supervisor.stop(STOP_SLACK_MS);
    const problem = { code: error.code ?? 'FLEETQ_INTERNAL', detail: error.message };
    this.#view.close();
    this.#end(this.#output.failure(new RemoteError(hint ? { ...problem, hint } : problem)));
  }

  #press(key: string): void {
    if (key === 'q' || key === '\u0003' || key === '\u0004') this.#stop('SIGINT');
    else if (key === 's') this.#startMany(BURST_COUNT);
    else if (key === 'k' && this.#isUp) {
      const pid = this.#supervisor.kill();
      this.#view.say(`worker ${pid} killed with SIGKILL, runs in hand: ${this.#unfinished}`);
    }
  }

  #startSteadily(): void {
    if (this.#stopCount > 0) return;
    if (this.#isUp && this.#unfinished < UNFINISHED_MAX) this.#startMany(1);
    systemClock.after(START_EVERY_MS, () => this.#startSteadily(), { idle: true });
  }

  #startMany(count: number): void {
    const samples = this.#samples;
    for (let i = 0; i < count && samples && this.#isUp; i++) {
      this.#startOne(samples).catch((error: Error) => {
        // Between its death and its return the worker starts nothing; that is no news.
        if (this.#isUp && this.#stopCount === 0) this.#view.say(`no run started: ${error.message}`);
      });
    }
  }

  async #startOne(samples: Samples): Promise<void> {
    const { machine, input } = await samples.next();
    await this.#client.start(machine, input);
  }

  #stop(signal: 'SIGINT' | 'SIGTERM'): void {
    this.#stopCount++;
    const budgetMs = parseDuration(this.#config.drainBudget) ?? 0;
    if (this.#stopCount === 1) {
      this.#view.say('draining: phases in hand finish, the rest goes on next time');
      this.#supervisor.stop(budgetMs + STOP_SLACK_MS).then(() => this.#end(Exit.ok));
      return;
    }
    this.#supervisor
      .stop(SECOND_SIGNAL_MS)
      .then(() => this.#end(signal === 'SIGINT' ? Exit.interrupted : Exit.terminated));
  }

  #keepLog(line: string): void {
    this.#logLines.push(line.slice(0, 500));
    if (this.#logLines.length > LOG_LINES_MAX) this.#logLines.shift();
  }
}

/** The worker reads its configuration as any process does; what we were told comes first. */
function workerEnvironment(
  config: Config,
  usual: Pick<Settings, 'logLevel' | 'logFormat'>,
): Record<string, string | undefined> {
  const settings = SETTING_NAMES.flatMap((name) => {
    const isDefault = config.sources[name] === 'default';
    const value = isDefault && name in usual ? usual[name as keyof typeof usual] : config[name];
    return value === undefined ? [] : [[variableOf(name), String(value)]];
  });
  return { ...process.env, ...Object.fromEntries(settings) };
}

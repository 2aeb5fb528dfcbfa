/** `fleetq worker` under a supervisor that starts it again whenever it ends, and a probe that asks it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../dist/bin.js', import.meta.url));
const MACHINES = fileURLToPath(new URL('./machines', import.meta.url));
const AGAIN_MS = 250;
const LOG_CHARS_MAX = 200_000;

export interface SupervisedOptions {
  readonly inside: readonly string[];
  readonly health: string;
  /** FLEETQ_… and whatever else its process is to know. */
  readonly env: Readonly<Record<string, string>>;
}

export class Supervised {
  readonly pids: number[] = [];
  /** Ends that no one asked for. */
  deaths = 0;
  log = '';
  readonly #options: SupervisedOptions;
  #child: ChildProcess | undefined;
  #isOver = false;
  readonly #onExit = () => this.#child?.kill('SIGKILL');

  constructor(options: SupervisedOptions) {
    this.#options = options;
    process.once('exit', this.#onExit);
    this.#start();
  }

  #start(): void {
    const { inside, env, health } = this.#options;
    const worker = [BIN, 'worker', '--machines', MACHINES, '--health-listen', health];
    const [command, ...rest] = [...inside, process.execPath, ...worker];
    const child = spawn(command!, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#child = child;
    this.pids.push(child.pid ?? 0);
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.log = `${this.log}${text}`.slice(-LOG_CHARS_MAX);
      });
    }
    child.once('exit', () => {
      if (this.#child === child) this.deaths += 1;
      if (!this.#isOver) setTimeout(() => this.#isOver || this.#start(), AGAIN_MS);
    });
  }

  /** As a host does that is short of memory; the supervisor starts the next one. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** What a person does who knows that the other process is gone; the supervisor starts the next one. */
  async adopt(): Promise<void> {
    const { inside, env } = this.#options;
    await this.kill();
    const [command, ...rest] = [...inside, process.execPath, BIN, 'journal', 'adopt'];
    execFileSync(command!, rest, { env: { ...process.env, ...env } });
  }

  get isUp(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  /** What it says to a probe; undefined where it does not answer. */
  async probe(): Promise<{ readonly status: number; readonly text: string } | undefined> {
    try {
      const signal = AbortSignal.timeout(2_000);
      const response = await fetch(`http://${this.#options.health}/readyz`, { signal });
      return { status: response.status, text: await response.text() };
    } catch {
      return undefined;
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    process.off('exit', this.#onExit);
    await this.kill();
  }
}

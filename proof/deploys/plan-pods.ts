/** Pods as people run them: `fleetq worker` from a directory of code, and `fleetq plan` beside them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BIN = join(ROOT, 'dist', 'bin.js');
const CODE = fileURLToPath(new URL('plan-machines/', import.meta.url));
const DRAIN_BUDGET = '7s';
const END_MS_MAX = 120_000;
const READY_MS_MAX = 120_000;

export interface Place {
  readonly url: string;
  readonly directory: string;
  readonly ledger: string;
  readonly slots: number;
}

export type Code = 'v1' | 'v2';

export function codeOf(code: Code): string {
  return join(CODE, code);
}

/** Without what the shell may have set. */
function environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('FLEETQ_'));
  return { ...Object.fromEntries(clean), ...more };
}

export class DeployPod {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #said = '';

  constructor(place: Place, code: Code, name: string, options: { readonly halts: boolean }) {
    this.name = name;
    this.#child = spawn(process.execPath, [BIN, 'worker', '--json'], {
      cwd: place.directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: environment({
        FLEETQ_STORE_URL: place.url,
        FLEETQ_MACHINES: codeOf(code),
        FLEETQ_DATA_DIR: join(place.directory, name),
        FLEETQ_POD_NAME: name,
        FLEETQ_SLOTS: `${place.slots}`,
        FLEETQ_HEARTBEAT: '500ms',
        FLEETQ_SILENCE: '5s',
        FLEETQ_ARCHIVE: '200ms',
        FLEETQ_DRAIN_BUDGET: DRAIN_BUDGET,
        FLEETQ_LOG_LEVEL: 'warn',
        DEPLOY_LEDGER: place.ledger,
        DEPLOY_CODE: code,
        ...(options.halts ? { DEPLOY_HALTS: 'yes' } : {}),
      }),
    });
    const hear = (text: Buffer) => {
      this.#said = `${this.#said}${String(text)}`.slice(-20_000);
    };
    this.#child.stdout?.on('data', hear);
    this.#child.stderr?.on('data', hear);
    this.#ended = once(this.#child, 'exit');
    const kill = () => this.#child.kill('SIGKILL');
    process.once('exit', kill);
    this.#ended.then(() => process.off('exit', kill));
  }

  get said(): string {
    return this.#said;
  }

  async ready(): Promise<void> {
    const until = performance.now() + READY_MS_MAX;
    while (!this.#said.includes('"kind":"ready"')) {
      if (this.#hasEnded || performance.now() > until) {
        throw new Error(`${this.name} did not begin: ${this.#said}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** As a deploy ends it. Anything but an orderly end is a fault. */
  async drain(): Promise<void> {
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), END_MS_MAX);
    await this.#ended;
    clearTimeout(late);
    const { exitCode, signalCode } = this.#child;
    if (exitCode !== 0) throw new Error(`${this.name} ended with ${exitCode ?? signalCode}`);
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    if (!this.#hasEnded) await this.#ended;
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

export interface Planned {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `fleetq plan`, of the code that is to come. */
export async function askPlan(place: Place, args: readonly string[]): Promise<Planned> {
  const child = spawn(process.execPath, [BIN, 'plan', '--json', ...args], {
    cwd: place.directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: environment({ FLEETQ_STORE_URL: place.url, FLEETQ_MACHINES: codeOf('v2') }),
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text) => {
    stdout += text;
  });
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  await once(child, 'close');
  return { exitCode: child.exitCode, stdout, stderr };
}

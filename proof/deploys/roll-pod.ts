/**
 * One place of a fleet, in which one process after another runs: `fleetq worker` as users start it, from
 * one directory of machine code or the other. What ends it is SIGTERM; it has to end well, and by itself.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Code = 'v1' | 'v2';

export interface PodPlace {
  readonly name: string;
  /** Where the package is: `dist/`, and beside `codes` what the machines share. */
  readonly dist: string;
  readonly codes: string;
  readonly url: string;
  readonly directory: string;
  /** The next process gets the disk of this one; else it is gone with it. */
  readonly keepsDisk: boolean;
  readonly slots: number;
}

/** Far above the longest phase: none has to be cut off. */
const DRAIN_BUDGET = '20s';
const READY_MS_MAX = 120_000;
const DRAIN_MS_MAX = 40_000;
const LOOK_MS = 10;

export class RollPod {
  readonly #place: PodPlace;
  readonly drainsMs: number[] = [];
  readonly faults: string[] = [];
  code: Code | undefined;
  #child: ChildProcess | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #said = '';
  #lives = 0;

  constructor(place: PodPlace) {
    this.#place = place;
  }

  /** Resolves when the pod has taken its place. */
  async start(code: Code): Promise<void> {
    const { name, dist, codes, url, directory, keepsDisk, slots } = this.#place;
    this.#lives += 1;
    const dataDir = join(directory, keepsDisk ? name : `${name}-${this.#lives}`);
    const ledger = join(directory, 'ledgers');
    mkdirSync(ledger, { recursive: true });
    const settings = {
      FLEETQ_STORE_URL: url,
      FLEETQ_MACHINES: join(codes, `code-${code}`),
      FLEETQ_DATA_DIR: dataDir,
      FLEETQ_POD_NAME: name,
      FLEETQ_SLOTS: String(slots),
      FLEETQ_HEARTBEAT: '1s',
      // Of those that are held up by a busy machine none is taken for dead.
      FLEETQ_SILENCE: '30s',
      FLEETQ_ARCHIVE: '500ms',
      FLEETQ_DRAIN_BUDGET: DRAIN_BUDGET,
      FLEETQ_LOG_LEVEL: 'error',
      FLEETQ_DEPLOYS_LEDGER: ledger,
    };
    this.#said = '';
    const child = spawn(process.execPath, [join(dist, 'bin.js'), 'worker', '--json'], {
      cwd: directory,
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const hear = (text: string) => {
      this.#said = `${this.#said}${text}`.slice(-5_000);
    };
    child.stdout.setEncoding('utf8').on('data', hear);
    child.stderr.setEncoding('utf8').on('data', hear);
    this.#child = child;
    this.#ended = once(child, 'close');
    const giveUpAt = performance.now() + READY_MS_MAX;
    while (!this.#said.includes('"kind":"ready"')) {
      if (this.#hasEnded || performance.now() > giveUpAt) {
        throw new Error(`${name} does not come up with code ${code}: ${this.#said}`);
      }
      await sleep(LOOK_MS);
    }
    this.code = code;
  }

  get #hasEnded(): boolean {
    return this.#child?.exitCode !== null || this.#child.signalCode !== null;
  }

  /** As a deploy ends it. */
  async drain(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    if (this.#hasEnded) this.#fault(`was gone before it was to drain`);
    const begunMs = performance.now();
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS_MAX);
    await this.#ended;
    clearTimeout(timer);
    this.drainsMs.push(performance.now() - begunMs);
    if (child.exitCode !== 0) this.#fault(`drained with ${child.signalCode ?? child.exitCode}`);
    this.#child = undefined;
    this.code = undefined;
  }

  async replace(code: Code): Promise<void> {
    await this.drain();
    await this.start(code);
  }

  /** However a run has ended, nobody is left behind. */
  async kill(): Promise<void> {
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  #fault(how: string): void {
    this.faults.push(
      `${this.#place.name} with code ${this.code} ${how}: ${this.#said.slice(-500)}`,
    );
  }
}

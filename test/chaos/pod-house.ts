/**
 * Keeps one pod's process up, as a supervisor on its host would, and does to it what a fault wants:
 * kill, pause, drain, cut off. Its ledger and its log are no part of its data directory, which may be lost.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childProgram } from '../support/children.ts';
import { DRAIN_BUDGET_MS, NO_STORE, type WorkerOrders } from './orders.ts';
import type { Cut, StoreProxy } from './proxy.ts';

export interface HouseOptions {
  readonly name: string;
  readonly directory: string;
  readonly dist: string;
  readonly url: string;
  readonly proxy: StoreProxy;
  readonly slots: number;
  readonly isSuspectsOnly: boolean;
}

const AGAIN_MS = 250;
/** Its budget, and what a machine with more processes than processors adds to it. */
const DRAIN_MS_MAX = DRAIN_BUDGET_MS + 15_000;

export class PodHouse {
  readonly name: string;
  readonly proxy: StoreProxy;
  readonly #options: HouseOptions;
  readonly #orders: WorkerOrders;
  #child: ChildProcess | undefined;
  #isClosed = false;
  #bytesBefore = 0;
  /** No fault is at work on it. */
  isFree = true;
  isReady = false;
  /** Ends that nobody asked for: what they said last. */
  readonly deaths: string[] = [];

  constructor(options: HouseOptions) {
    const { name, directory, dist, url, slots, isSuspectsOnly } = options;
    this.name = name;
    this.proxy = options.proxy;
    this.#options = options;
    this.#orders = {
      dist,
      url,
      dataDir: join(directory, name),
      name,
      ledger: join(directory, `${name}.ledger`),
      log: join(directory, `${name}.log`),
      slots,
      isSuspectsOnly,
    };
  }

  /** Whether the process that is there now has begun any phase. */
  get hasWorked(): boolean {
    return this.#ledgerBytes() > this.#bytesBefore;
  }

  #ledgerBytes(): number {
    return statSync(this.ledger, { throwIfNoEntry: false })?.size ?? 0;
  }

  get ledger(): string {
    return this.#orders.ledger;
  }

  start(): void {
    if (this.#isClosed) return;
    this.isReady = false;
    this.#bytesBefore = this.#ledgerBytes();
    const program = childProgram('chaos/worker-child.ts');
    const child = fork(program, [JSON.stringify(this.#orders)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    });
    this.#child = child;
    let said = '';
    child.stderr?.on('data', (text) => {
      said = `${said}${String(text)}`.slice(-4_000);
    });
    child.on('message', () => {
      this.isReady = true;
    });
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.isReady = false;
      if (code !== NO_STORE) {
        this.deaths.push(`${this.name}: ${code ?? signal}: ${said}`);
        appendFileSync(this.#orders.log, `died by itself: ${code ?? signal} ${said}\n`);
      }
      setTimeout(() => {
        if (this.#child === child) this.start();
      }, AGAIN_MS);
    });
  }

  /** False where there was no process to kill. */
  async kill(): Promise<boolean> {
    const child = this.#child;
    this.#child = undefined;
    this.isReady = false;
    if (!child || child.exitCode !== null || child.signalCode !== null) return false;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    const [, signal] = await ended;
    return signal === 'SIGKILL';
  }

  /**
   * As a deploy ends it: SIGTERM, and the rest is up to the process. False where it was not there to
   * be asked; one that does not end in order and in time has died.
   */
  async drain(): Promise<boolean> {
    const child = this.#child;
    this.#child = undefined;
    this.isReady = false;
    if (!child || child.exitCode !== null || child.signalCode !== null) return false;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS_MAX);
    const [code, signal] = await ended;
    clearTimeout(late);
    if (code === 0) return true;
    this.deaths.push(`${this.name}: asked to drain, it ended with ${code ?? signal}`);
    return false;
  }

  loseDisk(): void {
    rmSync(this.#orders.dataDir, { recursive: true, force: true });
  }

  /** False where the process was not there all the while. */
  async pause(ms: number): Promise<boolean> {
    const child = this.#child;
    if (!child?.kill('SIGSTOP')) return false;
    await sleep(ms);
    return child.exitCode === null && child.signalCode === null && child.kill('SIGCONT');
  }

  async cutOff(how: Cut, ms: number): Promise<void> {
    this.proxy.cut(how);
    await sleep(ms);
    this.proxy.heal();
  }

  /** Undoes whatever a fault has left, and starts what is not there. */
  heal(): void {
    this.proxy.disarm();
    this.proxy.heal();
    this.#child?.kill('SIGCONT');
    if (!this.#child) this.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.kill();
    this.proxy.stop();
  }

  get directory(): string {
    return this.#options.directory;
  }
}

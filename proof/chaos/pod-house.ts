/**
 * Keeps one pod's process up, as a supervisor on its host would, and does to it what a fault wants:
 * kill, pause, drain. Its ledger and its log are no part of its data directory, which may be lost.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childProgram } from '../../test/support/children.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import {
  DRAIN_BUDGET_MS,
  HEAP_MIB,
  type HouseWord,
  NO_STORE,
  type Report,
  type WorkerOrders,
  type WorkerWord,
} from './orders.ts';
import type { PodDisk } from './pod-disk.ts';
import type { PodVolume } from './pod-volume.ts';
import type { StoreProxy } from './proxy.ts';
import type { WrongClock } from './wrong-clock.ts';

export interface HouseOptions {
  readonly name: string;
  readonly directory: string;
  readonly dist: string;
  readonly url: string;
  readonly proxy: StoreProxy;
  readonly slots: number;
  readonly isSuspectsOnly: boolean;
  readonly foretold: string;
  readonly wallAtZeroMs: number;
  /** Where its data directory is, if that is to be made full. */
  readonly disk?: PodDisk | undefined;
  /** The same, if that is to be cloned; a clone has it at the same path. */
  readonly volume?: PodVolume | undefined;
  /** What its process goes by, if that is to be wrong. */
  readonly clock?: WrongClock | undefined;
  /** Whether a process that ended like this had said that it would. */
  readonly wasForetold: (pid: number, code: number | null, signal: string | null) => boolean;
}

const AGAIN_MS = 250;
const STEADY_MS = 1_500;
/** Its budget, and what a machine with more processes than processors adds to it. */
const DRAIN_MS_MAX = DRAIN_BUDGET_MS + 15_000;

export class PodHouse {
  readonly name: string;
  readonly proxy: StoreProxy;
  readonly disk: PodDisk | undefined;
  readonly volume: PodVolume | undefined;
  readonly clock: WrongClock | undefined;
  readonly #options: HouseOptions;
  readonly #orders: Omit<WorkerOrders, 'version'>;
  #child: ChildProcess | undefined;
  #isClosed = false;
  #bytesBefore = 0;
  /** No fault is at work on it. */
  isFree = true;
  /** The same of its wall clock, which may be wrong whatever else is. */
  isClockFree = true;
  isReady = false;
  #readyMs = 0;
  /** Of the code that its next process has, and of what the present one has. */
  version = 1;
  #startedVersion = 0;
  skewMs = 0;
  /** How often its processes have reported each. */
  readonly #reports = new Map<Report, number>();
  #hasRival = false;
  /** Ends that nobody asked for: what they said last. */
  readonly deaths: string[] = [];

  constructor(options: HouseOptions) {
    const { name, directory, dist, url, slots, isSuspectsOnly, foretold, wallAtZeroMs } = options;
    this.name = name;
    this.proxy = options.proxy;
    this.disk = options.disk;
    this.volume = options.volume;
    this.clock = options.clock;
    this.#options = options;
    this.#orders = {
      dist,
      url: signed(url, name),
      dataDir: options.volume?.dataDir ?? join(options.disk?.directory ?? directory, name),
      name,
      ledger: join(directory, `${name}.ledger`),
      log: join(directory, `${name}.log`),
      slots,
      isSuspectsOnly,
      foretold,
      wallAtZeroMs,
    };
  }

  /** A process is there, and has the newest code. */
  get isUpToDate(): boolean {
    return this.isReady && this.#startedVersion === this.version;
  }

  /** Whether the process that is there now has begun any phase. */
  get hasWorked(): boolean {
    return this.#ledgerBytes() > this.#bytesBefore;
  }

  /** Nothing is done to it, and it has been at work for a while. */
  get isSteady(): boolean {
    return this.isFree && this.isReady && performance.now() - this.#readyMs > STEADY_MS;
  }

  #ledgerBytes(): number {
    return statSync(this.ledger, { throwIfNoEntry: false })?.size ?? 0;
  }

  get ledger(): string {
    return this.#orders.ledger;
  }

  /** Its data directory as this process sees it. */
  get dataDir(): string {
    const { dataDir } = this.#orders;
    return join((this.disk ?? this.volume)?.root ?? '/', dataDir);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** How often its processes have reported this. */
  heard(report: Report): number {
    return this.#reports.get(report) ?? 0;
  }

  ask(word: HouseWord): void {
    if (this.#child?.connected) this.#child.send(word, () => undefined);
  }

  start(): void {
    if (this.#isClosed || this.#child) return;
    this.isReady = false;
    this.skewMs = 0;
    this.#hasRival = false;
    this.#bytesBefore = this.#ledgerBytes();
    this.#startedVersion = this.version;
    const child = this.#spawn();
    this.#child = child;
    let said = '';
    child.stderr?.on('data', (text) => {
      said = `${said}${String(text)}`.slice(-4_000);
    });
    child.on('message', (word) => this.#hear(word as WorkerWord));
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.isReady = false;
      this.#ended(child.pid ?? 0, code, signal, said);
      setTimeout(() => {
        if (this.#child !== child) return;
        this.#child = undefined;
        this.start();
      }, AGAIN_MS);
    });
  }

  #spawn(): ChildProcess {
    const program = childProgram('proof/chaos/worker-child.ts');
    const heap = `--max-old-space-size=${HEAP_MIB}`;
    const orders: WorkerOrders = { ...this.#orders, version: this.version };
    const node = [process.execPath, heap, program, JSON.stringify(orders)];
    const [command, ...rest] = [...((this.disk ?? this.volume)?.inside ?? []), ...node];
    const child = spawn(command!, rest, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, ...this.clock?.env },
    });
    // One that stands still would not notice that whoever watches it is gone.
    const end = () => child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    return child;
  }

  #hear(word: WorkerWord): void {
    if (typeof word === 'object') {
      this.skewMs = word.skewMs;
      return;
    }
    this.#reports.set(word, this.heard(word) + 1);
    if (word === 'ready') [this.isReady, this.#readyMs] = [true, performance.now()];
    if (word === 'rival') this.#hasRival = true;
  }

  #ended(pid: number, code: number | null, signal: string | null, said: string): void {
    // Of two processes with one journal the second ends in order, where it had joined before it knew.
    const hasYielded = code === 0 && this.#hasRival;
    if (code === NO_STORE || hasYielded || this.#options.wasForetold(pid, code, signal)) return;
    this.deaths.push(`${this.name}: ${code ?? signal}: ${said}`);
    appendFileSync(this.#orders.log, `died by itself: ${code ?? signal} ${said}\n`);
  }

  /** The process, if there is one, which is nobody's from now on. */
  #take(): ChildProcess | undefined {
    const child = this.#child;
    this.#child = undefined;
    this.isReady = false;
    return child && child.exitCode === null && child.signalCode === null ? child : undefined;
  }

  /** False where there was no process to kill. */
  async kill(): Promise<boolean> {
    const child = this.#take();
    if (!child) return false;
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
    const child = this.#take();
    if (!child) return false;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const late = setTimeout(() => child.kill('SIGKILL'), DRAIN_MS_MAX);
    const [code, signal] = await ended;
    clearTimeout(late);
    if (code === 0) return true;
    if (this.#options.wasForetold(child.pid ?? 0, code, signal)) return false;
    this.deaths.push(`${this.name}: asked to drain, it ended with ${code ?? signal}`);
    return false;
  }

  /** SIGTERM, and SIGKILL after so long. True where it was still at it then. */
  async drainRoughly(graceMs: number): Promise<boolean> {
    const child = this.#take();
    if (!child) return false;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
    const [code, signal] = await ended;
    clearTimeout(kill);
    const isOrderly = code === 0 || signal === 'SIGKILL';
    if (!isOrderly && !this.#options.wasForetold(child.pid ?? 0, code, signal)) {
      this.deaths.push(`${this.name}: asked to drain, it ended with ${code ?? signal}`);
    }
    return signal === 'SIGKILL';
  }

  loseDisk(): void {
    const place = this.disk ?? this.volume;
    if (place) place.lose(this.#orders.dataDir);
    else removeTree(this.#orders.dataDir);
  }

  /** False where the process was not there all the while. */
  async pause(ms: number): Promise<boolean> {
    const child = this.#child;
    if (!child?.kill('SIGSTOP')) return false;
    await sleep(ms);
    return child.exitCode === null && child.signalCode === null && child.kill('SIGCONT');
  }

  /** Undoes whatever a fault has left, and starts what is not there. */
  heal(): void {
    this.proxy.disarm();
    this.proxy.heal();
    this.disk?.makeRoom();
    this.clock?.right();
    this.#child?.kill('SIGCONT');
    this.start();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.kill();
    this.proxy.stop();
    this.disk?.remove();
    this.volume?.remove();
  }

  get directory(): string {
    return this.#options.directory;
  }
}

/** Its connections bear its name, so that the witness can tell who wrote. */
function signed(url: string, name: string): string {
  const own = new URL(url);
  own.searchParams.set('application_name', name);
  return own.href;
}

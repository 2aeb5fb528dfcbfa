/**
 * Keeps one pod's process alive: starts it, starts it again when it dies, and ends it well. One that
 * dies soon after its start is started again later and later, so that a broken one does not spin.
 * One that ends by itself with 0 was asked to drain, and begins anew, with the code that is there then.
 *
 *   starting ──ready──▶ up ──dies──▶ down ──after a pause──▶ starting
 *       └──refused the first time──▶ given up by whoever listens
 *
 * In a handover there are two of them for a while: the next one gets ready, the one that is up drains,
 * and the next one takes its place. A next one that cannot begin changes nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Cancel, Clock } from '../../ground/index.ts';
import type { PodMessage } from './messages.ts';

export type SupervisorEvent =
  | { readonly kind: 'started'; readonly pid: number }
  | {
      readonly kind: 'ready';
      readonly pid: number;
      readonly boot: number;
      /** Its id among pods; undefined where there is no store. */
      readonly pod: string | undefined;
      readonly health: string | undefined;
      readonly elapsedMs: number;
    }
  | {
      readonly kind: 'died';
      readonly pid: number;
      readonly how: string;
      /** Undefined where it was asked to end, or somebody else starts it again. */
      readonly againInMs: number | undefined;
    }
  /** It has drained, and process `to` opens what it has let go of. */
  | { readonly kind: 'handedOver'; readonly pid: number; readonly to: number }
  | Exclude<PodMessage, { kind: 'ready' }>;

/** `replaced`: another process is up in its place; `failed`: the one before is, or begins anew. */
export type HandoverEnd =
  | { readonly kind: 'replaced' }
  | { readonly kind: 'failed'; readonly why: string };

export interface SupervisorOptions {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where its log goes: to ours, or line by line to `onLog`, which keeps a live table whole. */
  readonly onLog: ((line: string) => void) | undefined;
  readonly onEvent: (event: SupervisorEvent) => void;
}

const POD = fileURLToPath(new URL('./pod-process.js', import.meta.url));
const AGAIN_MS = 150;
const AGAIN_MS_MAX = 10_000;
/** Who lived longer than this did not die of its start. */
const HEALTHY_MS = 5_000;

export class Supervisor {
  readonly #options: SupervisorOptions;
  #child: ChildProcess | undefined;
  /** Gets ready to take the place of the child. */
  #next: ChildProcess | undefined;
  #startedMs = 0;
  #quickDeaths = 0;
  #isStopping = false;
  #isHeldBack = false;
  #cancelAgain: Cancel | undefined;
  #onGone: (() => void) | undefined;
  #endHandover: ((end: HandoverEnd) => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    if (this.#isStopping || this.#child) return;
    this.#cancelAgain?.();
    this.#isHeldBack = false;
    this.#startedMs = this.#options.clock.monotonicMs();
    this.#child = this.#spawn({});
    this.#options.onEvent({ kind: 'started', pid: this.#child.pid ?? 0 });
  }

  /**
   * Lets another process, with the code that is there now, take over from the one that is up, which has
   * `patienceMs` to let go. Where none is up, one is started.
   */
  handOver(patienceMs: number): Promise<HandoverEnd> {
    if (this.#isStopping || this.#endHandover) {
      return Promise.resolve({ kind: 'failed', why: 'it is on its way already' });
    }
    return new Promise((resolve) => {
      this.#endHandover = (end) => {
        this.#endHandover = undefined;
        resolve(end);
      };
      if (!this.#child) return this.start();
      this.#next = this.#spawn({ FLEETQ_HANDOVER: `${Math.ceil(patienceMs)}ms` });
    });
  }

  #spawn(over: SupervisorOptions['env']): ChildProcess {
    const { env, onLog } = this.#options;
    // A group of its own: Ctrl-C is for the supervisor, which then ends its worker well.
    const child = spawn(process.execPath, [POD], {
      env: { ...env, ...over },
      detached: true,
      stdio: ['ignore', 'ignore', onLog ? 'pipe' : 'inherit', 'ipc'],
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line !== '') onLog?.(line);
    });
    child.on('message', (message) => this.#hear(child, message as PodMessage));
    child.on('error', (error) => {
      // Where there never was a process, nothing will close.
      if (child.pid === undefined) this.#onDeath(child, error.message);
    });
    child.on('close', (code, signal) => this.#onDeath(child, signal ?? `code ${code}`, code === 0));
    return child;
  }

  /** As an operating system would when it runs out of memory: without a word. `start` brings it back. */
  kill(): number | undefined {
    const pid = this.#child?.pid;
    // Not by its own doing: what it does next says nothing about its health.
    this.#quickDeaths = 0;
    this.#isHeldBack = pid !== undefined;
    this.#child?.kill('SIGKILL');
    return pid;
  }

  /** Lets the worker drain; resolves when it is gone, by force after `patienceMs`. */
  stop(patienceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#cancelAgain?.();
    // It has nothing in hand, or is the child a moment later, and goes as that.
    this.#next?.kill('SIGTERM');
    if (!this.#child) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(patienceMs, () => this.#child?.kill('SIGKILL'));
      this.#onGone = () => {
        cancel();
        resolve();
      };
      this.#child?.kill('SIGTERM');
    });
  }

  #hear(child: ChildProcess, message: PodMessage): void {
    const { clock, onEvent } = this.#options;
    const { pid = 0 } = child;
    if (message.kind === 'ready') {
      // The word of the one before, that it has ended, may come later than this.
      if (child === this.#next) this.#replace(this.#child?.pid ?? 0);
      const elapsedMs = clock.monotonicMs() - this.#startedMs;
      const { boot, pod, health } = message;
      onEvent({ kind: 'ready', pid, boot, pod, health, elapsedMs });
      return this.#endHandover?.({ kind: 'replaced' });
    }
    if (child === this.#next && message.kind === 'refused') {
      return this.#endHandover?.({ kind: 'failed', why: message.error.message });
    }
    // It asks by the socket too; a signal also reaches a process that has none.
    if (message.kind === 'waiting') this.#child?.kill('SIGTERM');
    onEvent(message);
  }

  #replace(pid: number): void {
    const { clock, onEvent } = this.#options;
    this.#child = this.#next;
    this.#next = undefined;
    this.#isHeldBack = false;
    this.#startedMs = clock.monotonicMs();
    if (this.#isStopping) this.#child?.kill('SIGTERM');
    onEvent({ kind: 'handedOver', pid, to: this.#child?.pid ?? 0 });
  }

  #onDeath(child: ChildProcess, how: string, wasWilling = false): void {
    if (child === this.#next) return this.#loseNext(how);
    if (child !== this.#child) return;
    const { clock, onEvent } = this.#options;
    const { pid = 0 } = child;
    if (this.#next) {
      if (!wasWilling) onEvent({ kind: 'died', pid, how, againInMs: 0 });
      return this.#replace(pid);
    }
    this.#child = undefined;
    const isQuick = clock.monotonicMs() - this.#startedMs < HEALTHY_MS && !wasWilling;
    this.#quickDeaths = isQuick ? this.#quickDeaths + 1 : 0;
    const staysAway = this.#isStopping || this.#isHeldBack;
    const againInMs = staysAway
      ? undefined
      : Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** this.#quickDeaths);
    if (againInMs !== undefined) this.#cancelAgain = clock.after(againInMs, () => this.start());
    onEvent({ kind: 'died', pid, how, againInMs });
    this.#endHandover?.({ kind: 'failed', why: `it ended with ${how}` });
    this.#onGone?.();
  }

  /** Whoever was up still is; one that drains by now begins anew when it has ended. */
  #loseNext(how: string): void {
    this.#next = undefined;
    this.#endHandover?.({ kind: 'failed', why: `the next process ended with ${how}` });
  }
}

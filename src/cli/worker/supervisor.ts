/**
 * Keeps one pod's process alive: starts it, starts it again when it dies, and ends it well. One that
 * dies soon after its start is started again later and later, so that a broken one does not spin.
 * One that ends by itself with 0 was asked to drain, and begins anew, with the code that is there then.
 *
 *   starting ──ready──▶ up ──dies──▶ down ──after a pause──▶ starting
 *       └──refused the first time──▶ given up by whoever listens
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
  | Exclude<PodMessage, { kind: 'ready' }>;

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
  #startedMs = 0;
  #quickDeaths = 0;
  #isStopping = false;
  #isHeldBack = false;
  #cancelAgain: Cancel | undefined;
  #onGone: (() => void) | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    const { clock, env, onLog, onEvent } = this.#options;
    if (this.#isStopping || this.#child) return;
    this.#isHeldBack = false;
    this.#startedMs = clock.monotonicMs();
    // A group of its own: Ctrl-C is for the supervisor, which then ends its worker well.
    const child = spawn(process.execPath, [POD], {
      env,
      detached: true,
      stdio: ['ignore', 'ignore', onLog ? 'pipe' : 'inherit', 'ipc'],
    });
    this.#child = child;
    const { pid = 0 } = child;
    onEvent({ kind: 'started', pid });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line !== '') onLog?.(line);
    });
    child.on('message', (message) => this.#hear(message as PodMessage, pid));
    child.on('error', (error) => {
      // Where there never was a process, nothing will close.
      if (child.pid === undefined) this.#onDeath(pid, error.message);
    });
    child.on('close', (code, signal) => this.#onDeath(pid, signal ?? `code ${code}`, code === 0));
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

  #hear(message: PodMessage, pid: number): void {
    const { clock, onEvent } = this.#options;
    if (message.kind !== 'ready') return onEvent(message);
    const elapsedMs = clock.monotonicMs() - this.#startedMs;
    const { boot, pod, health } = message;
    onEvent({ kind: 'ready', pid, boot, pod, health, elapsedMs });
  }

  #onDeath(pid: number, how: string, wasWilling = false): void {
    const { clock, onEvent } = this.#options;
    this.#child = undefined;
    const isQuick = clock.monotonicMs() - this.#startedMs < HEALTHY_MS && !wasWilling;
    this.#quickDeaths = isQuick ? this.#quickDeaths + 1 : 0;
    const staysAway = this.#isStopping || this.#isHeldBack;
    const againInMs = staysAway
      ? undefined
      : Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** this.#quickDeaths);
    if (againInMs !== undefined) this.#cancelAgain = clock.after(againInMs, () => this.start());
    onEvent({ kind: 'died', pid, how, againInMs });
    this.#onGone?.();
  }
}

/** One pod's process as the judge has it: asked over its channel, killed without a word. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./pod.mjs', import.meta.url));
const READY_MS_MAX = 60_000;
const ANSWER_MS_MAX = 60_000;
const LOG_CHARS_MAX = 4_000;

export interface PodOptions {
  readonly podName: string;
  readonly dataDir: string;
  readonly store?: string;
  readonly slots?: number;
  /** Machines that it has besides `faults/hold`. */
  readonly machines?: readonly string[];
  readonly heartbeat?: string;
  readonly silence?: string;
}

export interface PodPlace {
  /** What its process is started through, where it is to see a disk of its own. */
  readonly inside?: readonly string[] | undefined;
  readonly ledger?: string | undefined;
}

export interface Look {
  readonly stalledBy?: string;
  readonly journal: string;
  readonly alarms: readonly string[];
  readonly pod?: string;
  readonly isReady?: boolean;
  readonly leader?: string;
  readonly held?: number;
}

export interface Said {
  readonly said: 'ready' | 'alarm' | 'stalled' | 'recoveryFailed' | 'storeFailed';
  readonly kind?: string;
  readonly message?: string;
  readonly atMs: number;
}

interface Answer {
  readonly answers: number;
  readonly value?: unknown;
  readonly error?: string;
}

export class Pod {
  readonly said: Said[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #asked = 0;
  #log = '';

  /** Resolves when it has taken its place. */
  static async start(options: PodOptions, place: PodPlace = {}): Promise<Pod> {
    const pod = new Pod(options, place);
    const isReady = () => pod.said.some(({ said }) => said === 'ready');
    await until(`${options.podName} to be up`, READY_MS_MAX, () => {
      if (!pod.isUp) throw new Error(`${options.podName} ended before it was up:\n${pod.#log}`);
      return isReady();
    });
    return pod;
  }

  private constructor(options: PodOptions, { inside = [], ledger }: PodPlace) {
    const [command, ...rest] = [...inside, process.execPath, PROGRAM, JSON.stringify(options)];
    this.#child = spawn(command!, rest, {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, FAULTS_LEDGER: ledger ?? '' },
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#log = `${this.#log}${text}`.slice(-LOG_CHARS_MAX);
    });
    this.#child.on('message', (message: Said | Answer) => {
      if ('answers' in message) this.#waiting.get(message.answers)?.(message);
      else this.said.push({ ...message, atMs: performance.now() });
    });
    // A run of the tool that ends early must not leave its pods behind.
    const end = () => this.#child.kill('SIGKILL');
    process.once('exit', end);
    this.#child.once('exit', () => process.off('exit', end));
  }

  get isUp(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Rejects with what the pod answers where it cannot, and where it does not answer in time. */
  async ask<T>(what: string, order: object = {}, msMax = ANSWER_MS_MAX): Promise<T> {
    const ask = ++this.#asked;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(ask, resolve));
    this.#child.send({ ask, what, ...order });
    const patience = new AbortController();
    const late = sleep(msMax, { answers: ask, error: 'no answer' }, { signal: patience.signal });
    late.catch(() => undefined);
    const { value, error } = await Promise.race([answered, late as Promise<Answer>]);
    patience.abort();
    this.#waiting.delete(ask);
    if (error !== undefined) throw new Error(`${what}: ${error}`);
    return value as T;
  }

  look = (): Promise<Look> => this.ask<Look>('look');

  async kill(): Promise<void> {
    if (!this.isUp) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }

  /** What the kernel counts for it. */
  get size(): { readonly threads: number; readonly rssMiB: number } {
    const text = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]);
    return { threads: of('Threads'), rssMiB: Math.round(of('VmRSS') / 1024) };
  }
}

const LOOK_MS = 100;

/** Resolves with the milliseconds until it was so; rejects where it is not in time. */
export async function until(
  what: string,
  msMax: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<number> {
  const ms = await msUntil(msMax, isSo);
  if (ms === undefined) throw new Error(`waited ${msMax} ms in vain for ${what}`);
  return ms;
}

/** The same; undefined where it is not in time. */
export async function msUntil(
  msMax: number,
  isSo: () => boolean | Promise<boolean>,
): Promise<number | undefined> {
  const sinceMs = performance.now();
  for (;;) {
    if (await isSo()) return Math.round(performance.now() - sinceMs);
    if (performance.now() - sinceMs > msMax) return undefined;
    await sleep(LOOK_MS);
  }
}

/** Real pods under load, their orders, and what the ledger outside says of them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const POD = fileURLToPath(new URL('./pod.mjs', import.meta.url));
const END_MS_MAX = 20_000;

export interface Line {
  readonly what: string;
  readonly pod: string;
  readonly id?: string;
  readonly at?: string;
  readonly bytes?: number;
  readonly aloneMs?: number | null;
  readonly enqueuesLost?: number;
  readonly outcomesLost?: number;
  readonly outcomesOvertaken?: number;
  readonly outcomesWritten?: number;
  readonly claimsRestored?: number;
}

export interface PodsOptions {
  readonly count: number;
  readonly store: string;
  readonly place: string;
  /** How long a pod waits between two tasks that it enqueues; 0: it enqueues none. */
  readonly everyMs: number;
}

export class Pods {
  readonly #ledger: string;
  readonly #children: ChildProcess[] = [];
  #said = '';

  private constructor(ledger: string) {
    this.#ledger = ledger;
  }

  /** Resolves when all of them are up. */
  static async start({ count, store, place, everyMs }: PodsOptions): Promise<Pods> {
    const pods = new Pods(join(place, 'ledger'));
    const of = { store, ledger: pods.#ledger, everyMs };
    const times = { heartbeat: '500ms', silence: '3s', archive: '500ms' };
    for (let number = 1; number <= count; number += 1) {
      const podName = `pod-${number}`;
      await pods.#begin({ ...of, ...times, podName, dataDir: join(place, podName), slots: 20 });
    }
    return pods;
  }

  async #begin(options: object): Promise<void> {
    const child = spawn(process.execPath, ['--expose-gc', POD, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = `${this.#said}${text}`.slice(-4_000);
    });
    const ready = once(createInterface({ input: child.stdout! }), 'line');
    const ended = once(child, 'exit').then(() => {
      throw new Error(`a pod ended before it was ready:\n${this.#said}`);
    });
    ended.catch(() => undefined);
    await Promise.race([ready, ended]);
  }

  /** Every one of them is given it. */
  order(order: object): void {
    for (const child of this.#children) child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  lines(): Line[] {
    if (!existsSync(this.#ledger)) return [];
    const text = readFileSync(this.#ledger, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);
  }

  idsOf(what: string): string[] {
    return this.lines().flatMap((line) => (line.what === what && line.id ? [line.id] : []));
  }

  countOf(what: string): number {
    return this.lines().filter((line) => line.what === what).length;
  }

  /** Whether all of them live: none is expected to die of what becomes of the store. */
  get areUp(): boolean {
    return this.#children.every(({ exitCode, signalCode }) => (exitCode ?? signalCode) === null);
  }

  get size(): number {
    return this.#children.length;
  }

  get trouble(): string {
    return this.#said;
  }

  async end(): Promise<void> {
    this.order({ what: 'end' });
    await Promise.all(this.#children.map(endOf));
  }
}

async function endOf(child: ChildProcess): Promise<void> {
  if ((child.exitCode ?? child.signalCode) !== null) return;
  const ended = once(child, 'exit');
  const patience = new AbortController();
  const late = sleep(END_MS_MAX, undefined, { signal: patience.signal }).then(
    () => child.kill('SIGKILL'),
    () => undefined,
  );
  await ended;
  patience.abort();
  await late;
}

/** Processes that are killed, stopped for a while, and started again on the same disks. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const POD = fileURLToPath(new URL('./pod.mjs', import.meta.url));

export interface PodOrders {
  readonly dist: string;
  readonly store: string;
  readonly insert: string;
  readonly killEvery: number;
  readonly slots: number;
}

export class Pods {
  readonly #orders: PodOrders;
  readonly #place: string;
  readonly #children = new Map<number, ChildProcess>();
  #isEnding = false;
  /** Deaths by SIGKILL, whoever sent it. */
  deaths = 0;
  /** What the last of them that ended otherwise had to say. */
  trouble = '';

  constructor(orders: PodOrders, place: string) {
    this.#orders = orders;
    this.#place = place;
  }

  start(number: number): void {
    if (this.#isEnding) return;
    const orders = { ...this.#orders, dataDir: join(this.#place, `pod-${number}`) };
    const child = spawn(process.execPath, [POD], {
      env: { ...process.env, EXACTLY_ONCE: JSON.stringify(orders) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-2_000);
    });
    this.#children.set(number, child);
    child.once('exit', (_, signal) => {
      if (signal === 'SIGKILL') this.deaths += 1;
      else this.trouble = said;
      this.start(number);
    });
  }

  kill(number: number): void {
    this.#children.get(number)?.kill('SIGKILL');
  }

  stop(number: number): () => void {
    const child = this.#children.get(number);
    child?.kill('SIGSTOP');
    return () => child?.kill('SIGCONT');
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    const children = [...this.#children.values()].filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const ends = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ends);
  }
}

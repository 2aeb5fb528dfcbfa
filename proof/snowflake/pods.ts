/** Processes of pods that are killed, and started again: some at once, some when others have swept them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { childProgram } from '../../test/support/children.ts';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

export interface PodsOptions {
  readonly count: number;
  readonly store: string;
  readonly directory: string;
  readonly heartbeatMs: number;
  readonly silenceMs: number;
}

export class Pods {
  readonly #options: PodsOptions;
  readonly #children = new Map<number, ChildProcess>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isEnding = false;
  kills = 0;
  /** Ends that nobody asked for, and what they said last. */
  readonly deaths: string[] = [];

  constructor(options: PodsOptions) {
    this.#options = options;
    // The last one is for suspects, and is left alone.
    for (let number = 0; number <= options.count; number += 1) this.#start(number);
  }

  get ledgers(): string[] {
    return Array.from({ length: this.#options.count + 1 }, (_, number) => this.#ledgerOf(number));
  }

  #ledgerOf(number: number): string {
    return join(this.#options.directory, `pod-${number}.ledger`);
  }

  #start(number: number): void {
    if (this.#isEnding) return;
    const { store, directory, heartbeatMs, silenceMs, count } = this.#options;
    const isSuspectsOnly = number === count;
    const [name, ledger] = [`pod-${number}`, this.#ledgerOf(number)];
    const times = { dist: DIST, heartbeatMs, silenceMs };
    const orders = {
      store,
      dataDir: join(directory, name),
      name,
      ledger,
      isSuspectsOnly,
      ...times,
    };
    const program = childProgram('proof/snowflake/pod-child.ts');
    const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = `${said}${text}`.slice(-2_000);
    });
    this.#children.set(number, child);
    child.once('exit', (code, signal) => {
      if (signal !== 'SIGKILL') this.deaths.push(`${name}: ${code ?? signal}: ${said}`);
      if (this.#children.get(number) === child) this.#startAfter(number, 250);
    });
  }

  #startAfter(number: number, ms: number): void {
    this.#children.delete(number);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#start(number);
    }, ms);
    this.#timers.add(timer);
  }

  /** Every other one stays away for longer than its silence. */
  kill(number: number): void {
    const child = this.#children.get(number);
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    this.kills += 1;
    this.#startAfter(number, this.kills % 2 === 0 ? this.#options.silenceMs * 2 : 250);
    child.kill('SIGKILL');
  }

  async end(): Promise<void> {
    this.#isEnding = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const children = [...this.#children.values()].filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    const ends = children.map((child) => once(child, 'exit'));
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(ends);
  }
}

/**
 * Random SIGKILLs over many runs, judged from outside. The starter below keeps its own book of the
 * starts it was told are durable; the handlers keep theirs of what they did. Nothing is counted from
 * the journal.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Random } from '../../src/ground/index.ts';
import { childProgram, startChild } from '../../test/support/children.ts';
import { GroupLedger, type LedgerLine, readLedger } from '../../test/support/ledger.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { below, seededRandom } from '../../test/support/seeded-random.ts';
import { SHAPES, type Shape } from '../../test/support/shapes.ts';
import { judgeLedgers, type LedgerVerdict } from './kills-judge.ts';

export interface KillsOptions {
  readonly runs: number;
  readonly kills: number;
  readonly slots: number;
  readonly seed: number;
  readonly secondsMax: number;
}
export interface KillsReport extends LedgerVerdict {
  readonly runs: number;
  readonly kills: number;
  readonly killsWhileStarting: number;
  readonly slots: number;
  readonly seed: number;
  readonly seconds: number;
}
export type Ask =
  | { readonly ask: 'start'; readonly subject: string; readonly shape: Shape }
  | { readonly ask: 'unfinished' };
export type Reply =
  | { readonly say: 'ready' }
  | { readonly say: 'started'; readonly subject: string }
  | { readonly say: 'unfinished'; readonly count: number };

/** How many starts may be unanswered: enough to keep the slots busy, few enough to be in flight. */
const WINDOW = 64;
const POLL_MS = 50;
/** Of twenty kills, about this many hit a process that is still on its way up. */
const EARLY_IN_TWENTY = 3;

export async function runKills(options: KillsOptions): Promise<KillsReport> {
  childProgram('proof/kills/kills-child.ts');
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-kills-'));
  const begunAt = Date.now();
  try {
    const starter = new Starter(options, directory);
    while (!starter.isDone) await starter.live();
    return {
      runs: options.runs,
      kills: starter.kills,
      killsWhileStarting: starter.killsWhileStarting,
      slots: options.slots,
      seed: options.seed,
      ...judgeLedgers(
        readLedger<{ subject: string; shape: Shape }>(join(directory, 'starts')),
        readLedger<LedgerLine>(join(directory, 'effects')),
      ),
      seconds: Math.round((Date.now() - begunAt) / 100) / 10,
    };
  } finally {
    removeTree(directory);
  }
}

class Starter {
  readonly #options: KillsOptions;
  readonly #directory: string;
  readonly #random: Random;
  readonly #book: GroupLedger;
  readonly #baseMs = Date.now();
  readonly #asked = new Set<string>();
  #next = 0;
  #acked = 0;
  #killAtAcked = 0;
  kills = 0;
  killsWhileStarting = 0;
  isDone = false;

  constructor(options: KillsOptions, directory: string) {
    this.#options = options;
    this.#directory = directory;
    this.#random = seededRandom(options.seed);
    this.#book = new GroupLedger(join(directory, 'starts'));
  }

  /** One life of the process, from its start to its death. */
  async live(): Promise<void> {
    if (Date.now() - this.#baseMs > this.#options.secondsMax * 1_000)
      throw new Error(`not done after ${this.#options.secondsMax} s: ${this.#acked} started`);
    const { slots } = this.#options;
    const child = startChild('proof/kills/kills-child.ts', {
      dataDir: join(this.#directory, 'data'),
      ledger: join(this.#directory, 'effects'),
      slots,
      baseMs: this.#baseMs,
    });
    let errors = '';
    let isReady = false;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    const isEarly = this.#mayKill() && below(this.#random, 20) < EARLY_IN_TWENTY;
    const early = isEarly ? this.#killIn(child, 60 + below(this.#random, 300)) : undefined;
    this.#planKill();
    createInterface({ input: child.stdout! }).on('line', (text) => {
      isReady = true;
      this.#hear(child, JSON.parse(text) as Reply);
    });
    child.stdin?.on('error', () => undefined);
    const signal = await new Promise((resolve) => child.once('close', (_, by) => resolve(by)));
    clearTimeout(early);
    if (signal !== 'SIGKILL' && !this.isDone) throw new Error(`the child ended: ${errors}`);
    if (this.isDone) return;
    this.kills++;
    if (!isReady) this.killsWhileStarting++;
  }

  #mayKill(): boolean {
    return this.kills < this.#options.kills;
  }

  /** The kills that are left are spread over the starts that are left. */
  #planKill(): void {
    const { runs, kills } = this.#options;
    const spacing = (runs - WINDOW - this.#acked) / Math.max(1, kills - this.kills);
    this.#killAtAcked = this.#acked + Math.floor(spacing * 2 * this.#random.fraction());
  }

  #killIn(child: ChildProcess, ms: number): NodeJS.Timeout {
    return setTimeout(() => child.kill('SIGKILL'), ms);
  }

  #hear(child: ChildProcess, line: Reply): void {
    switch (line.say) {
      case 'ready':
        for (const subject of this.#asked) this.#ask(child, subject);
        this.#refill(child);
        break;
      case 'started':
        if (!this.#asked.delete(line.subject)) return;
        void this.#book.write({ subject: line.subject, shape: shapeOf(line.subject) });
        this.#acked++;
        if (this.#mayKill() && this.#acked >= this.#killAtAcked) {
          this.#killAtAcked = Number.POSITIVE_INFINITY;
          this.#killIn(child, below(this.#random, 30));
        }
        this.#refill(child);
        break;
      case 'unfinished':
        if (line.count > 0 || this.#mayKill()) this.#pollIn(child);
        else {
          this.isDone = true;
          child.kill('SIGKILL');
        }
    }
  }

  #refill(child: ChildProcess): void {
    while (this.#asked.size < WINDOW && this.#next < this.#options.runs) {
      const subject = `subject-${this.#next++}`;
      this.#asked.add(subject);
      this.#ask(child, subject);
    }
    if (this.#asked.size === 0) this.#pollIn(child);
  }

  #ask(child: ChildProcess, subject: string): void {
    const ask: Ask = { ask: 'start', subject, shape: shapeOf(subject) };
    child.stdin?.write(`${JSON.stringify(ask)}\n`);
  }

  #pollIn(child: ChildProcess): void {
    // Whatever kills are left are spent on the last runs and on idle processes.
    if (this.#mayKill()) this.#killIn(child, below(this.#random, 30));
    setTimeout(() => {
      const ask: Ask = { ask: 'unfinished' };
      if (child.exitCode === null) child.stdin?.write(`${JSON.stringify(ask)}\n`);
    }, POLL_MS);
  }
}

function shapeOf(subject: string): Shape {
  return SHAPES[Number(subject.split('-')[1]) % SHAPES.length] as Shape;
}

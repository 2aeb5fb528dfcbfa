/** Processes that are deployed away, what they did by their own ledgers, and how long they took to go. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeTree } from '../test/support/remove-tree.ts';
import { within } from './takeover-fleet.ts';

/** By the clock that all processes of this host share. */
export const sharedMs = (): number => Number(process.hrtime.bigint()) / 1_000_000;

/** One call of a handler, by one process; `endsAt` is missing where it was cut short. */
export interface Phase {
  readonly process: string;
  readonly run: string;
  readonly place: string;
  readonly beginsAt: number;
  readonly endsAt: number | undefined;
}

export interface DeployPod {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves when it has taken its place. */
  readonly ready: Promise<void>;
  /** Resolves with when it was gone. */
  readonly gone: Promise<number>;
}

const START_MS_MAX = 120_000;

export class DeployHouse {
  readonly #root: string;
  readonly #ledgers: string;
  readonly #running = new Set<ChildProcess>();
  #count = 0;

  constructor(root: string) {
    this.#root = root;
    this.#ledgers = join(root, 'ledgers');
    mkdirSync(this.#ledgers, { recursive: true });
  }

  /** `place`: the data directory, below this house. */
  start(place: string, options: object): DeployPod {
    const name = `process-${++this.#count}`;
    const program = fileURLToPath(new URL('deploy-child.mjs', import.meta.url));
    const ledger = join(this.#ledgers, name);
    const given = { dataDir: join(this.#root, place), ledger, podName: name, ...options };
    const child = fork(program, [JSON.stringify(given)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#running.add(child);
    const gone = once(child, 'exit').then(([code]) => {
      this.#running.delete(child);
      if (code !== 0) throw new Error(`${name} ended with ${code}`);
      return sharedMs();
    });
    const isReady = new Promise<void>((resolve, reject) => {
      child.on('message', ({ kind }: { kind: string }) => kind === 'ready' && resolve());
      gone.then(
        () => reject(new Error(`${name} ended before it was ready`)),
        (error) => reject(error),
      );
    });
    const ready = within(`${name} is ready`, START_MS_MAX, isReady);
    // Whoever waits for it hears of it; nobody may wait for it any more.
    for (const promise of [gone, ready]) promise.catch(() => undefined);
    return { name, child, ready, gone };
  }

  /** All that handlers did, in the order in which they were called. */
  phases(): Phase[] {
    const all = readdirSync(this.#ledgers).flatMap((name) => {
      const text = readFileSync(join(this.#ledgers, name), 'utf8');
      return phasesOf(name, text);
    });
    return all.sort((one, other) => one.beginsAt - other.beginsAt);
  }

  async remove(): Promise<void> {
    for (const child of [...this.#running]) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    removeTree(this.#root);
  }
}

/** 'begins <run> <place> <ms>' and 'ends …', a line each; a call that ends is the last that began. */
export function phasesOf(process: string, text: string): Phase[] {
  const open = new Map<string, Phase>();
  const phases: Phase[] = [];
  for (const line of text.split('\n')) {
    const [what, run = '', place = '', at = ''] = line.split(' ');
    if (what !== 'begins' && what !== 'ends') continue;
    const key = `${run} ${place}`;
    const begun = open.get(key);
    if (what === 'ends' && begun) {
      phases.push({ ...begun, endsAt: Number(at) });
      open.delete(key);
    } else {
      open.set(key, { process, run, place, beginsAt: Number(at), endsAt: undefined });
    }
  }
  return [...phases, ...open.values()];
}

/** Gives poison to the fleet, knows whose death was foretold, and says at the end whether all is well. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../../src/index.ts';
import { StoreBusyError, StoreUnreachableError } from '../../src/index.ts';
import { readLedger } from '../../test/support/ledger.ts';
import type { Acknowledgement, PodLife } from '../history/evidence.ts';
import { POISON } from './aside-shapes.ts';
import { tooManyDeaths } from './poison-deaths.ts';
import type { Foretold, Poison, PoisonInput } from './venom.ts';
import type { TaskFile } from './witness.ts';

const AGAIN_MS = 100;
const LOOK_MS = 500;
/** One in so many is never through with it. */
const ENDLESS_EVERY = 3;
const ENDLESS = 1_000;
/** How a process ends that has done so to itself. */
const ENDS: Readonly<Record<Exclude<Poison, 'spin'>, readonly (string | number)[]>> = {
  heap: ['SIGABRT', 134],
  abort: ['SIGABRT', 134],
  exit: [0],
};

export class Poisoner {
  readonly #client: Fleet;
  readonly #file: string;
  readonly #given = new Map<string, PoisonInput>();
  readonly #took = new Map<string, Poison>();
  #count = 0;

  constructor(client: Fleet, file: string) {
    this.#client = client;
    this.#file = file;
  }

  get acknowledged(): Acknowledgement[] {
    return [...this.#given].map(([task, { subject }]) => ({ task, subject, shape: POISON }));
  }

  /** Whether it took effect: a process that somebody else kills meanwhile did not do it itself. */
  async poison(how: Poison, isOver: () => boolean): Promise<boolean> {
    const index = this.#count;
    this.#count += 1;
    const before = [...this.#given.values()].filter((input) => input.how === how).length;
    const isEndless = how === 'abort' && before % ENDLESS_EVERY === 0;
    const input: PoisonInput = { subject: `p${index}`, how, times: isEndless ? ENDLESS : 1 };
    const { id } = await untilAnswered(() =>
      this.#client.enqueueByName(POISON, input, { key: input.subject, priority: 1 }),
    );
    this.#given.set(id, input);
    while (!this.#hasTaken(input) && !isOver()) {
      const [row] = await untilAnswered(() => this.#client.store.find([id]));
      if (row?.finishedAt !== undefined) break;
      await sleep(LOOK_MS);
    }
    return this.#hasTaken(input);
  }

  #hasTaken({ subject, how }: PoisonInput): boolean {
    return this.#subjects(how).has(subject);
  }

  #subjects(how: Poison): ReadonlySet<string> {
    const subjects =
      how === 'spin'
        ? readLedger<Foretold>(this.#file).flatMap((line) => (line.isOver ? line.subject : []))
        : [...this.#took].flatMap(([subject, its]) => (its === how ? subject : []));
    return new Set(subjects);
  }

  /** Whether a process that ended like this had said that it would. */
  wasForetold(pid: number, code: number | null, signal: string | null): boolean {
    const last = readLedger<Foretold>(this.#file).findLast((line) => line.pid === pid);
    // It was busy with that, and had no ear for anything else.
    if (last && !last.isOver && signal === 'SIGKILL') return true;
    if (!last || last.how === 'spin' || !ENDS[last.how].includes(signal ?? code ?? ''))
      return false;
    this.#took.set(last.subject, last.how);
    return true;
  }

  /** How many tasks had this effect on a process. */
  took(how: Poison): number {
    return this.#subjects(how).size;
  }

  /** In words: what did not end as it has to. */
  faultsOf(files: readonly TaskFile[], pods: readonly PodLife[]): string[] {
    const lines = readLedger<Foretold>(this.#file).filter(({ isOver }) => !isOver);
    const seen = new Set<string>(files.map(({ row }) => row.task));
    const missing = [...this.#given.keys()].filter((task) => !seen.has(task));
    return files
      .flatMap(({ row: { task, status, outcome }, changes }) => {
        const { subject = '?', times = 0 } = this.#given.get(task) ?? {};
        const deaths = lines.filter((line) => line.subject === subject).length;
        const isLoop = status === 'failed' && outcome === 'crashLoop';
        // One that lets go after the first death may still be killed by others.
        const isWell = isLoop || (times === 1 && status === 'completed');
        const words = [
          ...(isWell ? [] : [`${task}: poison is ${status}, ${outcome ?? 'without outcome'}`]),
          ...tooManyDeaths(deaths, changes, pods).map((why) => `${task}: ${why}`),
        ];
        return words;
      })
      .concat(missing.map((task) => `${task}: poison was acknowledged, and is not in the store`));
  }
}

async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isAway = error instanceof StoreUnreachableError || error instanceof StoreBusyError;
      if (!isAway) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

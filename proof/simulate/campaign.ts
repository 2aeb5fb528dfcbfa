/** Many seeds at once: a few processes take the next one each, until there are no more. */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { childProgram } from '../../test/support/children.ts';
import { traitsOf } from './kept-seeds.ts';
import type { Order } from './seed-child.ts';
import type { SeedReport } from './simulate.ts';

export interface CampaignOptions {
  readonly mutant?: string | undefined;
  /** In the order in which they end. */
  readonly onReport: (report: SeedReport) => void;
}

/** A seed, and whether it is simulated with fewer tasks. */
export type SeedOrder = Pick<Order, 'seed' | 'isSmall'>;

/** Processes that stay for one campaign after the other: each takes its time to become fast. */
export class Crew {
  readonly #children: ChildProcess[] = [];
  readonly #jobs: number;

  constructor(jobs = availableParallelism()) {
    this.#jobs = Math.max(1, jobs);
  }

  /** One seed after the other is begun, in this order; resolves when all of them have ended. */
  async simulate(
    orders: Iterable<SeedOrder>,
    { mutant, onReport }: CampaignOptions,
  ): Promise<void> {
    const left = orders[Symbol.iterator]();
    const work = async (index: number) => {
      for (let next = left.next(); !next.done; next = left.next()) {
        this.#children[index] ??= startChild();
        const order = { ...next.value, traits: traitsOf(next.value.seed), mutant };
        onReport(await ask(this.#children[index], order));
      }
    };
    await Promise.all(Array.from({ length: this.#jobs }, (_, index) => work(index)));
  }

  end(): void {
    for (const child of this.#children.splice(0)) child?.kill('SIGKILL');
  }
}

/** By processes of its own, of which none is left in the end. */
export async function campaign(
  orders: Iterable<SeedOrder>,
  { jobs, ...options }: CampaignOptions & { readonly jobs?: number | undefined },
): Promise<void> {
  const crew = new Crew(jobs);
  try {
    await crew.simulate(orders, options);
  } finally {
    crew.end();
  }
}

/** Compiled: what translates at the start names every function whenever it is made. */
function startChild(): ChildProcess {
  return fork(childProgram('proof/simulate/seed-child.ts'), {
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

function ask(child: ChildProcess, order: Order): Promise<SeedReport> {
  return new Promise((resolve, reject) => {
    const gone = (code: number | null, signal: string | null) =>
      reject(new Error(`the process ended by ${signal ?? code} within seed ${order.seed}`));
    child.once('exit', gone);
    child.once('message', (report: SeedReport) => {
      child.off('exit', gone);
      resolve(report);
    });
    child.send(order);
  });
}

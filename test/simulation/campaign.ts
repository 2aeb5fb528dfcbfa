/** Many seeds at once: a few processes take the next one each, until there are no more. */
import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Order } from './seed-child.ts';
import type { SeedReport } from './simulate.ts';

export interface CampaignOptions {
  readonly jobs?: number | undefined;
  readonly mutant?: string | undefined;
  /** In the order in which they end. */
  readonly onReport: (report: SeedReport) => void;
}

/** A seed, and whether it is simulated with fewer tasks. */
export type SeedOrder = Pick<Order, 'seed' | 'isSmall'>;

/** One seed after the other is begun, in this order; resolves when all of them have ended. */
export async function campaign(
  orders: Iterable<SeedOrder>,
  { jobs = availableParallelism(), mutant, onReport }: CampaignOptions,
): Promise<void> {
  const left = orders[Symbol.iterator]();
  const work = async () => {
    let next = left.next();
    if (next.done) return;
    const child = fork(new URL('./seed-child.ts', import.meta.url), {
      execArgv: ['--import', 'tsx'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    try {
      for (; !next.done; next = left.next()) {
        onReport(await ask(child, { ...next.value, mutant }));
      }
    } finally {
      child.kill('SIGKILL');
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, work));
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

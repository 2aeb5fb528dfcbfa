/**
 * A producer that writes a row of its own and a task in one transaction, and dies before, or right after,
 * a given statement. A real process and a real SIGKILL: what is left is what the database kept.
 */
import { systemClock } from '../../src/ground/clock.ts';
import type { RunId } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/open-store.ts';

export interface CallerOrder {
  readonly store: string;
  readonly task: string;
  /** Dies before the statement of this number; beyond the last it lives. */
  readonly diesAt: number;
  /** Sends that statement and does not wait for its answer. */
  readonly sends: boolean;
}

const order = JSON.parse(process.argv[2] ?? '{}') as CallerOrder;
let statements = 0;

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

const store = await openStore(order.store, { clock: systemClock });
const task = {
  id: order.task as RunId,
  machine: 'mail',
  version: 1,
  queue: 'default',
  priority: 0,
  due: undefined,
  payload: '{}',
  key: `order ${order.task}`,
  keyMs: 60_000,
  retriesMax: undefined,
  deadlineMs: undefined,
  traceParent: undefined,
};

if (order.store.startsWith('sqlite:')) {
  const { default: Database } = await import('better-sqlite3');
  const database = new Database(order.store.slice('sqlite:'.length));
  database.pragma('synchronous = FULL');
  const prepare = database.prepare.bind(database);
  const counted = (source: string) => {
    statements += 1;
    if (statements === order.diesAt) die();
    return prepare(source);
  };
  Object.defineProperty(database, 'prepare', { value: counted });
  database.prepare('begin immediate').run();
  database.prepare('insert into orders (id) values (?)').run(order.task);
  await store.enqueue([task], undefined, undefined, database);
  database.prepare('commit').run();
} else {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: order.store, application_name: order.task });
  await client.connect();
  const counted = {
    query: async (text: string, values?: unknown[]) => {
      statements += 1;
      if (statements === order.diesAt && !order.sends) die();
      const answer = client.query(text, values);
      if (statements === order.diesAt) setImmediate(die);
      return answer;
    },
  };
  await counted.query('begin');
  await counted.query('insert into orders (id) values ($1)', [order.task]);
  await store.enqueue([task], undefined, undefined, counted);
  await counted.query('commit');
}
process.stdout.write(`${statements}\n`);
process.exit(0);

/**
 * How fast tasks come in: `enqueueMany` of a program, with inputs that are parsed and keys, against rows
 * of the same size that go raw into the same table of the same server, in the same run: by COPY, which is
 * as fast as a client can be, and by inserts of many rows.
 */
import pg from 'pg';
import * as z from 'zod';
import { defineMachine, type Fleet } from '../src/index.ts';
import { say } from './child.ts';
import { copyIn } from './copy-in.ts';

const ROWS = process.argv.includes('--full') ? 400_000 : 60_000;
const BATCH = 1_000;
const ROUNDS = 3;

export const mail = defineMachine({
  name: 'bench-mail',
  version: 1,
  input: z.object({ n: z.int(), to: z.string() }),
  check: 'none',
  work: () => 1,
});

const inputOf = (n: number) => ({ n, to: `somebody-${n}@example.org` });

function* items(isKeyed: boolean, round: number) {
  for (let n = 0; n < ROWS; n += 1) {
    yield { input: inputOf(n), ...(isKeyed ? { key: `${round}-${n}` } : {}) };
  }
}

async function perSecond(act: () => Promise<unknown>): Promise<number> {
  const begunMs = performance.now();
  await act();
  return Math.round((ROWS / (performance.now() - begunMs)) * 1_000);
}

function* payloads(): Generator<string[]> {
  for (let from = 0; from < ROWS; from += BATCH) {
    yield Array.from({ length: BATCH }, (_, index) => JSON.stringify(inputOf(from + index)));
  }
}

/** The same columns, with no machine, no parsing and no look for what is there. */
async function insertRaw(client: pg.Client): Promise<void> {
  for (const batch of payloads()) {
    await client.query(
      `insert into step_tracker (machine, payload, deadline_at)
       select 'bench-raw', payload, now() + interval '1 day' from unnest($1::text[]) as payload`,
      [batch],
    );
  }
}

function* copyLines(): Generator<string> {
  const deadline = new Date(Date.now() + 86_400_000).toISOString();
  for (const batch of payloads()) {
    yield batch.map((payload) => `bench-raw\t${payload}\t${deadline}\n`).join('');
  }
}

function copyRaw(client: pg.Client): Promise<void> {
  return copyIn(
    client,
    'copy step_tracker (machine, payload, deadline_at) from stdin',
    copyLines(),
  );
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

const share = (one: number, other: number) => Math.round((one / other) * 100) / 100;

export async function benchIntake(url: string, fleet: Fleet): Promise<object> {
  const client = new pg.Client(url);
  await client.connect();
  const ways = {
    copy: () => copyRaw(client),
    insert: () => insertRaw(client),
    plain: (round: number) => fleet.enqueueMany(mail, items(false, round)),
    keyed: (round: number) => fleet.enqueueMany(mail, items(true, round)),
  };
  const rates: Record<keyof typeof ways, number[]> = { copy: [], insert: [], plain: [], keyed: [] };
  // In turns: what else the machine does is then everybody's.
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const way of ['copy', 'insert', 'plain', 'keyed'] as const) {
      await client.query('truncate step_tracker cascade');
      rates[way].push(await perSecond(() => ways[way](round)));
    }
    say(`round ${round + 1}: ${JSON.stringify(rates)}`);
  }
  await client.query('truncate step_tracker cascade');
  await client.end();
  const [copy, insert] = [median(rates.copy), median(rates.insert)];
  const [plain, keyed] = [median(rates.plain), median(rates.keyed)];
  return {
    rows: ROWS,
    ...{ enqueueManyPerSecond: plain, enqueueManyKeyedPerSecond: keyed },
    ...{ rawCopyPerSecond: copy, rawInsertPerSecond: insert },
    ...{ enqueueManyOfCopy: share(plain, copy), enqueueManyOfInsert: share(plain, insert) },
    keyedOfInsert: share(keyed, insert),
  };
}

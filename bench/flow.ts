/**
 * How fast tasks come in: `enqueueMany` of a program, with inputs that are parsed and keys, against rows
 * of the same size that are inserted raw into the same table of the same server, in the same run.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import * as z from 'zod';
import { createFleet, defineMachine, type Fleet } from '../src/index.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { say } from './child.ts';

const ROWS = process.argv.includes('--full') ? 400_000 : 60_000;
const BATCH = 1_000;
const ROUNDS = 3;

const mail = defineMachine({
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

/** The same columns, with no machine, no parsing and no look for what is there. */
async function insertRaw(client: pg.Client): Promise<void> {
  for (let from = 0; from < ROWS; from += BATCH) {
    const payloads = Array.from({ length: BATCH }, (_, index) =>
      JSON.stringify(inputOf(from + index)),
    );
    await client.query(
      `insert into step_tracker (machine, payload, deadline_at)
       select 'bench-raw', payload, now() + interval '1 day' from unnest($1::text[]) as payload`,
      [payloads],
    );
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)]!;
}

export async function benchFlow(): Promise<object> {
  const server = await startPostgres();
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-flow-'));
  let fleet: Fleet | undefined;
  try {
    const store = await server.createDatabase();
    const dataDir = join(directory, 'data');
    fleet = await createFleet({ machines: [mail], store, migrates: true, isClient: true, dataDir });
    const client = new pg.Client(store);
    await client.connect();
    const rates = { plain: [] as number[], keyed: [] as number[], raw: [] as number[] };
    // In turns: what else the machine does is then everybody's.
    for (let round = 0; round < ROUNDS; round += 1) {
      rates.raw.push(await perSecond(() => insertRaw(client)));
      rates.plain.push(await perSecond(() => fleet!.enqueueMany(mail, items(false, round))));
      rates.keyed.push(await perSecond(() => fleet!.enqueueMany(mail, items(true, round))));
      await client.query('truncate step_tracker cascade');
      say(`round ${round + 1}: ${JSON.stringify(rates)}`);
    }
    await client.end();
    const [plain, keyed, raw] = [rates.plain, rates.keyed, rates.raw].map(median) as [
      number,
      number,
      number,
    ];
    return {
      rows: ROWS,
      enqueueManyPerSecond: plain,
      enqueueManyKeyedPerSecond: keyed,
      rawInsertPerSecond: raw,
      enqueueManyOfRaw: Math.round((plain / raw) * 100) / 100,
    };
  } finally {
    await fleet?.drain();
    await server.remove();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Work for a sink to follow: runs with a known history, through the real store, some of it committed late. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import type { Segment } from '../../src/store/tasks.ts';
import type { Claim } from '../../src/store/words.ts';
import {
  birthOf,
  claimOf,
  claimRequest,
  completed,
  hashAt,
  MACHINE,
  newTasks,
  podOf,
  ROUTE,
} from '../../test/store/factories.ts';

export const EVENTS_PER_RUN = 10;
const BATCH = 250;
const LATE_MS = 1_500;

export interface Load {
  readonly url: string;
  readonly runs: number;
  /** Called behind each batch, with how many runs have ended. */
  readonly onRuns?: (count: number) => void;
}

/** Every run: two records, then two more of the same segment, then a second segment with its end. */
export async function makeLoad({ url, runs, onRuns }: Load): Promise<void> {
  const store = await openPostgresStore(url, { clock: systemClock, random: systemRandom });
  const late = new LateWriter(url);
  const pod = podOf('alder');
  try {
    await store.register({ ...birthOf('alder'), routes: [ROUTE] });
    let ended = 0;
    while (ended < runs) {
      const count = Math.min(BATCH, runs - ended);
      await late.write();
      await playBatch(store, pod, count);
      ended += count;
      onRuns?.(ended);
    }
    await late.end();
  } finally {
    await store.close();
  }
}

async function playBatch(
  store: Store,
  pod: ReturnType<typeof podOf>,
  count: number,
): Promise<void> {
  await store.enqueue(newTasks(count, { payload: '{"image":"debian-12","size":1}' }));
  const claims = (await store.claim(claimRequest(pod, { countMax: count }))).map(claimOf);
  if (claims.length !== count) throw new Error(`claimed ${claims.length} of ${count}`);
  await store.archive(claims.map((claim) => recordsOf(claim, 0, 1)));
  await store.archive(claims.map((claim) => recordsOf(claim, 0, 3)));
  const last = EVENTS_PER_RUN - 1;
  await store.settle(
    pod,
    claims.map((claim) => completed(claim, { tail: recordsOf(claim, 4, last) })),
  );
}

function recordsOf(claim: Claim, first: number, last: number): Segment {
  const seqs = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const records = seqs.map((seq) => ({
    ...{ seq, at: 1_700_000_000_000 + seq, epoch: claim.epoch, event: 'PHASE_ENDED' },
    ...{ state: 'main.work', hash: hashAt(claim.task, seq) },
    data: { type: 'PHASE_ENDED', output: { note: 'as "it" went', bytes: seq * 1_000 } },
  }));
  return {
    ...claim,
    ...{ firstSeq: first, lastSeq: last, state: 'main.work' },
    prevHash: hashAt(claim.task, first - 1),
    lastHash: hashAt(claim.task, last),
    events: JSON.stringify(records),
  };
}

/** Transactions that stay open over several rounds of a sink, and commit in another order than they began. */
class LateWriter {
  readonly #url: string;
  readonly #open: Promise<void>[] = [];
  #isHalf = false;

  constructor(url: string) {
    this.#url = url;
  }

  async write(): Promise<void> {
    if (this.#open.length >= 400) return;
    this.#isHalf = !this.#isHalf;
    const written = this.#play(this.#isHalf ? LATE_MS : LATE_MS / 3);
    written.catch(() => undefined);
    this.#open.push(written);
  }

  async end(): Promise<void> {
    await Promise.all(this.#open);
  }

  async #play(ms: number): Promise<void> {
    const client = new pg.Client(this.#url);
    await client.connect();
    try {
      await client.query('begin');
      await sleep(ms / 2);
      await client.query('savepoint one');
      // In no queue that anybody claims from: it is there to be seen.
      await client.query(
        `insert into step_tracker (machine, payload, paused) values ('${MACHINE}', '"late"', true)`,
      );
      await sleep(ms / 2);
      await client.query('commit');
    } finally {
      await client.end();
    }
  }
}

/**
 * How many runs are parked for each API. Their rows say that they wait for one, and their last records
 * which: so many of them are looked at, in two questions for all APIs, and no more.
 */
import { rowOf } from '../../fleet/index.ts';
import { type Codec, FleetqError } from '../../ground/index.ts';
import { decodeRowsAfter, type EventRow } from '../../journal/index.ts';
import type { WordField } from '../../query/index.ts';
import type { Count, Segment, StoreReader } from '../../store/index.ts';

const PARKED_MAX = 500;
const LOOK_MS_MAX = 500;

const term = (field: WordField, word: string) =>
  ({ kind: 'words', field, isNot: false, words: [word] }) as const;
const PARKED = [term('status', 'waiting'), term('wait', 'throttle')];

export interface ParkedRuns {
  readonly counts: ReadonlyMap<string, number>;
  for(api: string): Count;
}

export interface ParkedQuery {
  /** Of all machines, where nothing is said. */
  readonly machine?: string | undefined;
  readonly countMax?: number | undefined;
}

export async function parkedRuns(
  reader: Pick<StoreReader, 'page' | 'lastSegments'>,
  codec: Codec,
  { machine, countMax = PARKED_MAX }: ParkedQuery = {},
): Promise<ParkedRuns> {
  const terms = machine === undefined ? PARKED : [...PARKED, term('machine', machine)];
  const looked = { filter: { terms }, countMax, budgetMs: LOOK_MS_MAX };
  const { tasks, cursor, lookedBackTo } = await reader.page(looked);
  const isExact = cursor === undefined && lookedBackTo === undefined;
  const names = tasks.map(({ id: task, generation }) => ({ task, generation }));
  const counts = new Map<string, number>();
  for (const segment of names.length > 0 ? await reader.lastSegments(names) : []) {
    const api = apiIn(segment, codec);
    if (api !== undefined) counts.set(api, (counts.get(api) ?? 0) + 1);
  }
  return { counts, for: (api) => ({ count: counts.get(api) ?? 0, isExact }) };
}

/** Undefined where it cannot be read: sealed with another key, say. */
function apiIn({ task, events, firstSeq, prevHash }: Segment, codec: Codec): string | undefined {
  try {
    const records = JSON.parse(events) as readonly EventRow[];
    const at = records.findLastIndex(({ event }) => event === 'POSTPONED');
    if (at < 0) return undefined;
    const row = rowOf(task, records[at], firstSeq + at);
    const before = { seq: row.seq - 1, hash: records[at - 1]?.hash ?? prevHash };
    const [record] = decodeRowsAfter(task, [row], codec, before);
    return record && 'api' in record.event ? record.event.api : undefined;
  } catch (error) {
    if (error instanceof FleetqError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

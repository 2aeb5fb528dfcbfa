/** One of the two: the run, and its records as far as anybody would read them. */
import { get, queryText } from '../../services/api.ts';
import type { RecordPage, Run, RunRecord } from '../../services/types.ts';
import { type Loaded, useLoad } from '../../services/use-load.ts';

const RECORDS_MAX = 5_000;

export interface Side {
  readonly run: Run;
  readonly records: readonly RunRecord[];
}

export function useSide(id: string): Loaded<Side> {
  return useLoad(id === '' ? undefined : id, async (signal) => {
    const path = `/runs/${encodeURIComponent(id)}`;
    const run = await get<Run>(path, signal);
    const records: RunRecord[] = [];
    for (;;) {
      const query = queryText({ after: records.length - 1 });
      const { events, hasMore } = await get<RecordPage>(`${path}/events${query}`, signal);
      records.push(...events);
      if (!hasMore || events.length === 0 || records.length >= RECORDS_MAX) break;
    }
    return { run, records };
  });
}

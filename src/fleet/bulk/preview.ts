/** What a bulk operation would find, and what it would do to the first of them; nothing is changed. */
import {
  type ActAnswer,
  type BulkDeed,
  bulkFilter,
  type Count,
  generationSeen,
  type NewBulk,
  type Store,
  type StoreReader,
} from '../../store/index.ts';

export const PREVIEW_COUNT = 20;

export interface BulkPreview extends Count {
  readonly sample: readonly {
    readonly task: string;
    readonly machine: string;
    readonly status: string;
    readonly answer: ActAnswer['kind'];
    /** What it would be then, or why not. */
    readonly becomes?: string | undefined;
    readonly why?: string | undefined;
  }[];
}

export async function previewBulk(
  bulk: NewBulk,
  reader: Pick<StoreReader, 'page' | 'count'>,
  act: Store['act'],
): Promise<BulkPreview> {
  const filter = bulkFilter({ ...bulk, createdAt: undefined });
  const { count, isExact } = await reader.count({ filter, countMax: 1 });
  const countMax = Math.min(PREVIEW_COUNT, bulk.countMax ?? PREVIEW_COUNT);
  const { tasks } = await reader.page({ filter, countMax });
  const sample: BulkPreview['sample'][number][] = [];
  for (const { id: task, machine, status, generation } of tasks) {
    const answer = await act({
      requestId: `preview:${bulk.id}:${task}:${generation}`,
      who: bulk.who,
      via: bulk.via,
      task,
      deed: JSON.parse(bulk.deed) as BulkDeed,
      ifRevision: generationSeen(generation),
      isDryRun: true,
    });
    const came =
      answer.kind === 'refused'
        ? { why: `${answer.why}: ${answer.detail}` }
        : { becomes: `${answer.after.status} at ${answer.after.revision}` };
    sample.push({ task, machine, status, answer: answer.kind, ...came });
  }
  const most = bulk.countMax ?? Number.POSITIVE_INFINITY;
  return { count: Math.min(count, most), isExact: isExact || count >= most, sample };
}

/**
 * Who was rescued from whom and why, as sweeps have written it down. These results are our own, with
 * names of pods and tasks alone: they are told to whoever may look. What an error says is not.
 */
import type { RunId } from '../../ground/index.ts';
import type { StoreReader, TaskGlance } from '../../store/index.ts';
import type { Shown } from './mask.ts';
import { jsonOf } from './views.ts';

const SWEEP = 'recovery/sweep';
/** So many tasks of a pod are named; all are counted. */
const NAMED_MAX = 50;
const COUNTS = ['requeued', 'failed', 'cancelled', 'waitingForHost'] as const;

export interface Rescue {
  readonly pod: string;
  readonly why: string;
  readonly requeued: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly waitingForHost: number;
  readonly tasks: readonly string[];
  readonly error?: string | undefined;
}

export async function rescuesOf(
  reader: StoreReader,
  tasks: readonly TaskGlance[],
  shown: Shown,
): Promise<ReadonlyMap<RunId, readonly Rescue[]>> {
  const ids = tasks.filter(({ machine }) => machine === SWEEP).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = await reader.find(ids);
  return new Map(rows.map(({ id, result }) => [id, rescuesIn(jsonOf(result), shown)]));
}

/** Of another version of ours, or of nobody: what does not fit is left out. */
function rescuesIn(result: unknown, shown: Shown): readonly Rescue[] {
  const { pods } = Object(result) as { readonly pods?: unknown };
  if (!Array.isArray(pods)) return [];
  return pods.map((each): Rescue => {
    const of = Object(each) as Readonly<Record<string, unknown>>;
    const counts = COUNTS.map((name) => [name, typeof of[name] === 'number' ? of[name] : 0]);
    const named = Array.isArray(of['tasks']) ? of['tasks'].slice(0, NAMED_MAX).map(String) : [];
    return {
      pod: String(of['pod']),
      why: String(of['why']),
      ...(Object.fromEntries(counts) as Record<(typeof COUNTS)[number], number>),
      tasks: named,
      error: typeof of['error'] === 'string' ? shown.text(of['error']) : undefined,
    };
  });
}

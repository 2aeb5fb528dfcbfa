/** Where runs of a list were last seen: the phase that is on record, or the one in which they ended. */
import type { RunId } from '../../ground/index.ts';
import type { Segment, StoreReader, TaskGlance } from '../../store/index.ts';

/** What was completed has been everywhere: of the rest the last segments are looked at, in one go. */
export async function lastPlaces(
  reader: StoreReader,
  tasks: readonly TaskGlance[],
): Promise<ReadonlyMap<RunId, string>> {
  const open = tasks.filter(({ outcome }) => outcome !== 'completed');
  if (open.length === 0) return new Map();
  const names = open.map(({ id: task, generation }) => ({ task, generation }));
  const places = (await reader.lastSegments(names)).flatMap((segment) => {
    const state = placeOf(segment);
    return state === undefined ? [] : [[segment.task, state] as const];
  });
  return new Map(places);
}

/** An end is no phase: then it is the one before it, where that is in the same segment. */
function placeOf({ state, events }: Segment): string | undefined {
  if (isPhase(state)) return state;
  const records = JSON.parse(events) as readonly { readonly state: string }[];
  return records.findLast((record) => isPhase(record.state))?.state;
}

function isPhase(state: string): boolean {
  return state.includes('.');
}

/** Where runs of a list were last seen: the phase that is on record, or the one in which they ended. */
import type { RunId } from '../../ground/index.ts';
import type { Segment, StoreReader, TaskGlance } from '../../store/index.ts';

/** Of a longer one the whole history is not read for a list. */
const SHORT_SEQ_MAX = 100;

/** What was completed has been everywhere: of the rest the last segments are looked at, in one go. */
export async function lastPlaces(
  reader: Pick<StoreReader, 'lastSegments' | 'histories'>,
  tasks: readonly TaskGlance[],
): Promise<ReadonlyMap<RunId, string>> {
  const open = tasks.filter(({ outcome }) => outcome !== 'completed');
  if (open.length === 0) return new Map();
  const places = new Map<RunId, string>();
  note(places, await reader.lastSegments(open.map(nameOf)));
  // An end that was archived by itself tells no phase: the segments before it do.
  const untold = open.filter(({ id, lastSeq }) => !places.has(id) && isShort(lastSeq));
  if (untold.length > 0) note(places, await reader.histories(untold.map(nameOf)));
  return places;
}

const nameOf = ({ id: task, generation }: TaskGlance) => ({ task, generation });
const isShort = (lastSeq: number) => lastSeq > 0 && lastSeq <= SHORT_SEQ_MAX;

function note(places: Map<RunId, string>, segments: readonly Segment[]): void {
  for (const segment of segments.toSorted((one, other) => one.lastSeq - other.lastSeq)) {
    const state = placeOf(segment);
    if (state !== undefined) places.set(segment.task, state);
  }
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

/**
 * What was done twice, and whether it may have been. A phase may be repeated only if its record did
 * not reach those who went on: the store, where another pod did, or the disk, where the same one did.
 *
 *   epoch 7   check work ▏ persist              effects in the ledger
 *   history   ──●────●───┤                      what reached the store of them
 *   epoch 9              └─ TAKEN  persist      goes on from there: `persist` again is allowed,
 *                                               `work` again would not be
 */
import type { Plan } from '../../src/machine/index.ts';
import { type History, isBefore, type Place, placeOf, type Stop } from './history.ts';
import type { Effect } from './shapes.ts';
import type { TaskFile } from './witness.ts';

/** Why an effect that was repeated had not been recorded where it counted. */
export type Reason = 'unrecorded' | 'unarchived' | 'late';

export interface EffectVerdict {
  /** In words, each with its task: repeats that are not allowed. */
  readonly doubled: readonly string[];
  /** Records of phases that no ledger knows of. */
  readonly invented: readonly string[];
  /** One for each `work` or `persist` that came to nothing and was done again. */
  readonly repeats: readonly Reason[];
}

/** A record this much older than a claim was there to be seen when the claim loaded the history. */
const SEEN_MS = 3_000;

const PERFORMED = ['DONE', 'HANDED_OFF', 'FAILED'];

export function judgeEffects(
  file: TaskFile,
  history: History,
  plan: Plan,
  effects: readonly Effect[],
): EffectVerdict {
  const { task } = file.row;
  const phases = effects.filter(({ phase }) => phase !== 'probe');
  const claimedAt = new Map(
    file.changes.flatMap(({ owner, epoch, at }) => (owner === undefined ? [] : [[epoch, at]])),
  );
  return {
    doubled: [
      ...sameTwice(phases),
      ...recordedAgain(file, history, plan, phases, claimedAt),
      ...passedOver(file, history, claimedAt),
      ...forgottenOnDisk(history, plan, phases),
    ].map((words) => `${task}: ${words}`),
    invented: inventedBy(history, phases).map((words) => `${task}: ${words}`),
    repeats: repeatsOf(file, history, phases),
  };
}

function nameOf({ step, phase, attempt, fencingToken, pod }: Effect): string {
  return `${step}.${phase} attempt ${attempt} of epoch ${fencingToken} by ${pod}`;
}

/** One owner does one attempt at a phase once. */
function sameTwice(effects: readonly Effect[]): string[] {
  const seen = new Set<string>();
  return effects.flatMap((effect) => {
    const { step, phase, attempt, fencingToken } = effect;
    const name = `${step}.${phase} ${attempt} ${fencingToken}`;
    if (seen.has(name)) return `${nameOf(effect)} happened twice under one epoch`;
    seen.add(name);
    return [];
  });
}

/** What an owner had before it: all records before its own first, or, where none of its own count,
 *  those that were there long before its claim. */
function startOf(
  file: TaskFile,
  { stops, last }: History,
  epoch: number,
  claimedAt: ReadonlyMap<number, number>,
): Place | undefined {
  const own = stops.find((stop) => stop.epoch === epoch);
  if (own) return own.place;
  const at = claimedAt.get(epoch);
  if (at === undefined) return undefined;
  const seen = file.segments.filter((part) => part.epoch < epoch && part.at + SEEN_MS < at);
  const seq = Math.max(-1, ...seen.map(({ lastSeq }) => lastSeq));
  const index = stops.findLastIndex((stop) => stop.seq <= seq && stop.epoch < epoch);
  return index < 0 ? undefined : (stops[index + 1]?.place ?? last);
}

function recordedAgain(
  file: TaskFile,
  history: History,
  plan: Plan,
  effects: readonly Effect[],
  claimedAt: ReadonlyMap<number, number>,
): string[] {
  return effects.flatMap((effect) => {
    const { step, phase, attempt, fencingToken } = effect;
    const start = startOf(file, history, fencingToken, claimedAt);
    const place = placeOf(plan, `${step}.${phase}`, attempt);
    if (!start || !isBefore(place, start)) return [];
    return `${nameOf(effect)} happened though its record had reached the store`;
  });
}

/** An owner that begins before records which were in the store long before its claim. */
function passedOver(
  { segments }: TaskFile,
  { stops }: History,
  claimedAt: ReadonlyMap<number, number>,
): string[] {
  const firsts = new Map<number, Stop>();
  for (const stop of stops) if (!firsts.has(stop.epoch)) firsts.set(stop.epoch, stop);
  return [...firsts].flatMap(([epoch, { seq }]) => {
    const at = claimedAt.get(epoch) ?? 0;
    const ignored = segments.find(
      (part) => part.epoch < epoch && part.lastSeq >= seq && part.at + SEEN_MS < at,
    );
    if (!ignored) return [];
    return `epoch ${epoch} begins at record ${seq}, though the store had ${ignored.lastSeq}`;
  });
}

/** The next epoch but for a sweep in between is the same disk: what was durable there is not redone. */
function forgottenOnDisk(history: History, plan: Plan, effects: readonly Effect[]): string[] {
  return effects.flatMap((effect) => {
    const { step, phase, attempt, fencingToken } = effect;
    const next = history.stops.find(({ epoch }) => epoch === fencingToken + 1);
    const place = placeOf(plan, `${step}.${phase}`, attempt);
    if (!next || !isBefore(next.place, place)) return [];
    return `epoch ${next.epoch} went on at ${next.from} on the disk of ${nameOf(effect)}`;
  });
}

function inventedBy({ stops }: History, effects: readonly Effect[]): string[] {
  const done = new Set(effects.map(keyOf));
  return stops.flatMap((stop) => {
    if (stop.seq === 0 || !PERFORMED.includes(stop.event) || stop.from.endsWith('.sleep'))
      return [];
    if (done.has(`${stop.from} ${stop.attempt} ${stop.epoch}`)) return [];
    return `record ${stop.seq} says that ${stop.from} was done, and no ledger does`;
  });
}

function keyOf({ step, phase, attempt, fencingToken }: Effect): string {
  return `${step}.${phase} ${attempt} ${fencingToken}`;
}

function repeatsOf(
  { changes }: TaskFile,
  { stops }: History,
  effects: readonly Effect[],
): Reason[] {
  const recorded = new Set(stops.map((stop) => `${stop.from} ${stop.attempt} ${stop.epoch}`));
  return effects.flatMap((effect): Reason[] => {
    const { phase, fencingToken, at } = effect;
    if (phase !== 'work' && phase !== 'persist') return [];
    if (recorded.has(keyOf(effect))) return [];
    const moved = changes.find(
      ({ wasEpoch, epoch }) => wasEpoch === fencingToken && epoch > wasEpoch,
    );
    if (moved && at > moved.at) return ['late'];
    return [moved?.owner === undefined ? 'unarchived' : 'unrecorded'];
  });
}

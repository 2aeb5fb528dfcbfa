/**
 * Rules on what handlers did. A phase may be repeated only if its record did not reach those who went
 * on: the store, where another pod did, or the disk, where the same one did.
 *
 *   epoch 7   check work ▏ persist              effects in the ledger
 *   history   ──●────●───┤                      what reached the store of them
 *   epoch 9              └─ TAKEN  persist      goes on from there: `persist` again is allowed,
 *                                               `work` again would not be
 */
import { type History, isBefore, type Place, placeOf, type Stop } from './accepted-history.ts';
import { type Effect, lastSeqBy, type TimedSegment } from './evidence.ts';
import { type Around, type Finding, type Life, lookAtEach, type Rule, together } from './rule.ts';

/** Why an effect that was repeated had not been recorded where it counted. */
export type Reason = 'unrecorded' | 'unarchived' | 'late';

/** Two times of one clock, rounded by different hands. */
const ROUNDED_MS = 50;

const NOTHING: Finding = { looked: 0, faults: [] };

export const onceUnderOneEpoch: Rule = {
  name: 'once under one epoch',
  says: 'one owner does one attempt at a phase once',
  proves: ['I5', 'I12'],
  weight: 'doubled',
  ofLife: ({ task, effects }) => {
    const seen = new Set<string>();
    return lookAtEach(effects, (effect) => {
      const key = keyOf(effect);
      if (seen.has(key)) return `${task}: ${nameOf(effect)} happened twice under one epoch`;
      seen.add(key);
      return undefined;
    });
  },
};

export const notAgain: Rule = {
  name: 'no recorded phase again',
  says: 'nobody does what the store had on record when he got the task, nor goes on before it',
  proves: ['I19', 'I20'],
  weight: 'doubled',
  ofLife: (life) => {
    const { history } = life;
    return history ? together(recordedAgain(life, history), passedOver(life, history)) : NOTHING;
  },
};

function recordedAgain(life: Life, history: History): Finding {
  const { task, effects } = life;
  const starts = new Map<number, Place | undefined>();
  return lookAtEach(effects, (effect) => {
    const { fencingToken } = effect;
    if (!starts.has(fencingToken)) starts.set(fencingToken, startOf(life, history, fencingToken));
    const start = starts.get(fencingToken);
    if (!start || !isBefore(placeOfEffect(life, effect), start)) return undefined;
    return `${task}: ${nameOf(effect)} happened though its record had reached the store`;
  });
}

/** What an owner had before it: all records before its own first, or, where none of its own count,
 *  those that had been committed before its claim was made. */
function startOf(life: Life, { stops, last }: History, epoch: number): Place | undefined {
  const own = stops.find((stop) => stop.epoch === epoch);
  if (own) return own.place;
  const claim = life.claims.get(epoch);
  if (claim === undefined) return undefined;
  const seq = reachedBy(life.segments, firstsOf(stops), epoch, claim.at);
  const index = stops.findLastIndex((stop) => stop.seq <= seq && stop.epoch < epoch);
  return index < 0 ? undefined : (stops[index + 1]?.place ?? last);
}

/** An owner that begins before records which had been committed before its claim was made. */
function passedOver({ task, segments, claims }: Life, { stops }: History): Finding {
  const firsts = firstsOf(stops);
  return lookAtEach(firsts, ([epoch, { seq }]) => {
    const had = reachedBy(segments, firsts, epoch, claims.get(epoch)?.at ?? 0);
    if (had < seq) return undefined;
    return `${task}: epoch ${epoch} begins at record ${seq}, though the store had ${had}`;
  });
}

/** The first record of each owner that counts. */
function firstsOf(stops: readonly Stop[]): ReadonlyMap<number, Stop> {
  const firsts = new Map<number, Stop>();
  for (const stop of stops) if (!firsts.has(stop.epoch)) firsts.set(stop.epoch, stop);
  return firsts;
}

/**
 * How far the store had it for whoever got `epoch` at this time. What an owner sent of records behind
 * which another had gone on before him counts for nothing, however early it came.
 */
function reachedBy(
  segments: readonly TimedSegment[],
  firsts: ReadonlyMap<number, Stop>,
  epoch: number,
  at: number,
): number {
  const reached = segments.flatMap((part) => {
    if (part.epoch >= epoch) return [];
    const forks = [...firsts].flatMap(([owner, { seq }]) =>
      owner > part.epoch && owner < epoch ? seq - 1 : [],
    );
    return Math.min(lastSeqBy(part, at), ...forks);
  });
  return Math.max(-1, ...reached);
}

export const writeAhead: Rule = {
  name: 'write-ahead',
  says: 'a phase begins once the record before it is made, and whoever has the disk has that record',
  proves: ['I12', 'I20'],
  weight: 'doubled',
  ofLife: (life, { wasSkewed }) => {
    const { history } = life;
    if (!history) return NOTHING;
    return together(madeBefore(life, history, wasSkewed), onDisk(life, history));
  },
};

/** By the times of records and effects of one owner, which are by one clock. */
function madeBefore(
  { task, effects }: Life,
  { stops }: History,
  wasSkewed: Around['wasSkewed'],
): Finding {
  const before = new Map<string, Stop>();
  stops.forEach((stop, index) => {
    const previous = stops[index - 1];
    if (previous?.epoch === stop.epoch) before.set(keyOfStop(stop), previous);
  });
  const deeds = new Map(effects.map((effect) => [keyOf(effect), effect]));
  return lookAtEach(
    effects.flatMap((effect) => {
      const record = before.get(keyOf(effect));
      if (!record) return [];
      // Records have the time of their pod, and of a clock that is wrong nobody can tell the order.
      // This one was made after what it tells had begun, and before the effect.
      const { at = effect.at } = deeds.get(keyOfStop(record)) ?? {};
      return wasSkewed(effect.pod, Math.min(at, effect.at), effect.at) ? [] : [{ effect, record }];
    }),
    ({ effect, record }) => {
      if (record.at <= effect.at + ROUNDED_MS) return undefined;
      return `${task}: ${nameOf(effect)} happened before record ${record.seq} was made`;
    },
  );
}

/** The next epoch but for a sweep in between is the same disk: what was durable there is not redone. */
function onDisk(life: Life, { stops }: History): Finding {
  const firsts = new Map<number, Stop>();
  for (const stop of stops) if (!firsts.has(stop.epoch)) firsts.set(stop.epoch, stop);
  return lookAtEach(
    life.effects.flatMap((effect) => {
      const next = firsts.get(effect.fencingToken + 1);
      return next ? [{ effect, next }] : [];
    }),
    ({ effect, next }) => {
      if (!isBefore(next.place, placeOfEffect(life, effect))) return undefined;
      const where = `epoch ${next.epoch} went on at ${next.from}`;
      return `${life.task}: ${where} on the disk of ${nameOf(effect)}`;
    },
  );
}

const PERFORMED = ['DONE', 'HANDED_OFF', 'FAILED'];

export const noEmptyRecord: Rule = {
  name: 'no record without its deed',
  says: 'what a record says was done was done, by its author, as the ledgers have it',
  proves: ['I2', 'I12'],
  weight: 'lost',
  ofLife: ({ task, history, effects }) => {
    const done = new Set(effects.map(keyOf));
    const told = (history?.stops ?? []).filter(
      ({ seq, event, from }) =>
        seq > 0 && PERFORMED.includes(event.type) && !from.endsWith('.sleep'),
    );
    return lookAtEach(told, (stop) =>
      done.has(keyOfStop(stop))
        ? undefined
        : `${task}: record ${stop.seq} says that ${stop.from} was done, and no ledger does`,
    );
  },
};

export const fencesHold: Rule = {
  name: 'fences hold',
  says: 'a downstream that refuses lower tokens refuses nothing that counts, and late owners only',
  proves: ['I8', 'I9', 'I21'],
  weight: 'zombieWrites',
  ofLife: ({ task, effects, history, claims }) => {
    const recorded = performedIn(history);
    // Where a later owner came to nothing, what an earlier one brought late is what goes on.
    const counting = new Set(history?.stops.map(({ epoch }) => epoch));
    let highest = 0;
    return lookAtEach(effects, (effect) => {
      const { fencingToken, at } = effect;
      const isRefused = fencingToken < highest;
      if (counting.has(fencingToken)) highest = Math.max(highest, fencingToken);
      if (isRefused && recorded.has(keyOf(effect))) {
        return `${task}: ${nameOf(effect)} counts, and was fenced off by epoch ${highest}`;
      }
      const claim = claims.get(fencingToken);
      if (!claim || claim.at <= at + ROUNDED_MS) return undefined;
      return `${task}: ${nameOf(effect)} happened before the claim was given`;
    });
  },
};

export const stableKeys: Rule = {
  name: 'stable idempotency keys',
  says: 'a phase has one idempotency key over all attempts and owners, and no other phase has it',
  proves: ['I5'],
  weight: 'doubled',
  ofLife: ({ task, effects }) => {
    const keys = new Map<string, string>();
    const phases = new Map<string, string>();
    return lookAtEach(effects, ({ step, phase, idempotencyKey }) => {
      const name = `${step}.${phase}`;
      const key = keys.get(name) ?? idempotencyKey;
      const owner = phases.get(idempotencyKey) ?? name;
      keys.set(name, idempotencyKey);
      phases.set(idempotencyKey, name);
      if (key !== idempotencyKey) return `${task}: ${name} has several idempotency keys`;
      return owner === name ? undefined : `${task}: ${name} and ${owner} share an idempotency key`;
    });
  },
};

/** One for each `work` or `persist` that came to nothing and was done again. */
export function repeatsOf({ changes, history, effects }: Life): Reason[] {
  const recorded = performedIn(history);
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

/** Whose answer was recorded: a phase that was let go has a record too, and its answer counts for nothing. */
function performedIn(history: History | undefined): ReadonlySet<string> {
  const stops = history?.stops ?? [];
  return new Set(stops.filter(({ event }) => PERFORMED.includes(event.type)).map(keyOfStop));
}

function nameOf({ step, phase, attempt, fencingToken, pod }: Effect): string {
  return `${step}.${phase} attempt ${attempt} of epoch ${fencingToken} by ${pod}`;
}

function placeOfEffect({ plan }: Life, { step, phase, attempt }: Effect): Place {
  return placeOf(plan, `${step}.${phase}`, attempt);
}

export function keyOf({ step, phase, attempt, fencingToken }: Effect): string {
  return `${step}.${phase} ${attempt} ${fencingToken}`;
}

export function keyOfStop({ from, attempt, epoch }: Stop): string {
  return `${from} ${attempt} ${epoch}`;
}

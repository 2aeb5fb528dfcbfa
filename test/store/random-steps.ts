/** The steps of random sequences: what may be asked of a store, and how often. */
import * as fc from 'fast-check';

const STEP_COUNT = { minLength: 20, maxLength: 50, size: 'max' } as const;

/** How often each thing is done, compared with the others. */
const WEIGHTS = {
  enqueue: 4,
  plain: 1,
  claim: 6,
  settle: 6,
  settleAll: 2,
  archive: 2,
  mirror: 1,
  announce: 1,
  register: 1,
  beat: 2,
  drain: 1,
  fence: 3,
  take: 3,
  adopt: 2,
  retire: 2,
  cancel: 2,
  reschedule: 1,
  redrive: 3,
  discard: 1,
  pause: 2,
  resume: 2,
  retry: 1,
  pass: 2,
  failHopeless: 1,
  prune: 1,
} as const;
type Kind = keyof typeof WEIGHTS;
const KINDS = (Object.keys(WEIGHTS) as Kind[]).flatMap((kind) =>
  Array<Kind>(WEIGHTS[kind]).fill(kind),
);

/** What to do, and three small numbers that say to whom: meaningful whatever came before. */
export type Step = readonly [kind: Kind, a: number, b: number, c: number];

/** Of the last of the three numbers: what is asked is asked of the wrong one, or too late. */
export const STRAY = 7;

const small = fc.nat({ max: 7 });
const step: fc.Arbitrary<Step> = fc.tuple(fc.constantFrom(...KINDS), small, small, small);
export const steps = fc.array(step, STEP_COUNT);
/** The same, which can be cut down to the one step that matters. */
export const fewerSteps = fc.array(step, { ...STEP_COUNT, minLength: 1 });

/** Something to do for most of what may follow. */
export const OPENING: readonly Step[] = [
  ['enqueue', 2, 0, 0],
  ['enqueue', 4, 4, 4],
  ['claim', 0, 0, 2],
  ['claim', 1, 1, 0],
];

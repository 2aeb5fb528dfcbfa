/** The shapes of what is asked and answered, as schemas: checked in tests, and told in OpenAPI. */
import * as z from 'zod';
import { isStorable } from '../../config/index.ts';
import { REASON_CHARS_MAX } from '../../store/index.ts';
import { LIMIT_MAX } from '../limits.ts';

/** A whole number in a query, where everything is text. */
export const whole = (min: number, max: number) =>
  z.preprocess(
    (text) => (typeof text === 'string' && /^-?\d{1,16}$/.test(text) ? Number(text) : text),
    z
      .int({ error: `must be a whole number, ${min} to ${max}` })
      .min(min, { error: `must be ${min} to ${max}` })
      .max(max, { error: `must be ${min} to ${max}` }),
  );

export const yes = z.enum(['true', 'false']);
export const text = (lengthMax: number) => z.string().min(1).max(lengthMax);
/** Of a queue, a machine, a key: what every store can keep, and give back as it was. */
export const name = (lengthMax: number) =>
  text(lengthMax).refine(isStorable, {
    error: 'must be text without NUL and halves of surrogate pairs',
  });
export const limit = whole(1, LIMIT_MAX).optional();

/** Milliseconds since the epoch. */
export const instant = z.number();
const anyJson = z.unknown().describe('any JSON; where it is masked {"isMasked":true,"bytes":…}');

/** Why somebody changes something. */
export const reason = text(REASON_CHARS_MAX).optional().describe('for whoever reads the audit log');

/** What every change takes besides what it is about. */
export const guarded = {
  dryRun: z.boolean().optional().describe('say what would be done, and do nothing'),
  ifRevision: text(40).optional().describe('only if it is still like this; as If-Match'),
};

export const source = z.enum(['journal', 'store']);

export const Run = z
  .strictObject({
    id: z.string(),
    machine: z.string(),
    version: z.number(),
    status: z.string(),
    outcome: z.string().optional(),
    generation: z.number().optional(),
    revision: z.string().optional(),
    state: z.string().optional(),
    attempt: z.number().optional(),
    seq: z.number().optional(),
    pod: z.string().optional(),
    queue: z.string().optional(),
    priority: z.number().optional(),
    key: z.string().optional(),
    serialKey: z.string().optional(),
    follows: z
      .strictObject({ run: z.string(), on: z.string() })
      .optional()
      .describe('the run after which it goes: on its `success`, or on its `end`, however'),
    followers: z
      .array(
        z.strictObject({
          run: z.string(),
          machine: z.string(),
          status: z.string(),
          on: z.string(),
        }),
      )
      .optional()
      .describe('of one run: who follows it, or did, a hundred at most, where anybody does'),
    hasMoreFollowers: z
      .literal(true)
      .optional()
      .describe('told where more than those hundred follow it'),
    retries: z.number().optional(),
    crashes: z.number().optional(),
    claims: z.number().optional(),
    waitsFor: z.string().optional(),
    isPaused: z.boolean().optional(),
    blocked: z.string().optional(),
    control: z.string().optional(),
    pinnedTo: z.string().optional(),
    createdAt: instant,
    startedAt: instant.optional(),
    updatedAt: instant,
    dueAt: instant.optional(),
    deadlineAt: instant.optional(),
    finishedAt: instant.optional(),
    discardedAt: instant.optional(),
    reason: z.string().optional(),
    error: anyJson.optional(),
    input: anyJson.optional(),
    output: anyJson.optional(),
    progress: z.looseObject({ fraction: z.number() }).optional(),
    source: z.enum(['journal', 'store', 'archive']).describe('where it is told from'),
    freshAt: z.string().describe('of when it is'),
  })
  .meta({ id: 'Run' });

export const Record = z
  .strictObject({
    seq: z.number(),
    lsn: z.number(),
    at: instant,
    epoch: z.number(),
    state: z.string(),
    hash: z.string(),
    event: z.looseObject({ type: z.string() }),
  })
  .meta({ id: 'Record' });

export const Machine = z
  .strictObject({
    name: z.string(),
    version: z.number(),
    fingerprint: z.string().optional(),
    transitions: z.array(z.looseObject({})).optional(),
    input: anyJson.optional().describe('the JSON Schema of its input, where it has one'),
    attemptMax: z.record(z.string(), z.number()).optional().describe('of each phase'),
    isHere: z.boolean().describe('whether this process has it, and can start it'),
    pods: z.number().optional(),
    pending: z.number().optional(),
    waiting: z.number().optional(),
    claimed: z.number().optional(),
    blocked: z.number().optional(),
    why: z.string().optional(),
    firstSeenAt: instant.optional(),
  })
  .meta({ id: 'Machine' });

export const Pod = z
  .strictObject({
    pod: z.string(),
    name: z.string(),
    status: z.string(),
    isLeader: z.boolean(),
    isSilent: z.boolean(),
    isStalled: z.boolean().optional(),
    silentMs: z.number(),
    silenceMs: z.number().optional(),
    deadBy: z.string().optional(),
    journal: z.string(),
    boot: z.number(),
    lsn: z.number(),
    bornAt: instant,
    beatAt: instant,
    desired: z.string().optional(),
    routes: z.array(z.string()),
    report: anyJson,
    deadAt: instant.optional(),
    claimCount: z.number(),
  })
  .meta({ id: 'Pod' });

/** What a sweep has taken from one pod. */
export const Rescue = z
  .strictObject({
    pod: z.string(),
    why: z.string(),
    requeued: z.number(),
    failed: z.number(),
    cancelled: z.number(),
    waitingForHost: z.number(),
    tasks: z.array(z.string()).describe('the first fifty'),
    error: z.string().optional(),
  })
  .meta({ id: 'Rescue' });

const Glimpse = z.strictObject({
  status: z.string(),
  revision: z.string(),
  isPaused: z.boolean(),
  runAt: instant,
});

/** What became of a change. */
export const Changed = z
  .strictObject({
    kind: z.enum(['done', 'requested', 'already']),
    isDryRun: z.boolean(),
    isRepeated: z.boolean(),
    requestId: z.string(),
    before: Glimpse.optional(),
    after: Glimpse.optional(),
    made: z.string().optional().describe('of a fork, the new run'),
    isCancelled: z.boolean().optional(),
    outcome: z.string().optional(),
  })
  .meta({ id: 'Changed' });

export const lookedBackTo = instant
  .optional()
  .describe('told where the time ran out: everything created since then was looked at');

export const Problem = z
  .strictObject({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    detail: z.string(),
    code: z.string(),
    hint: z.string().optional(),
  })
  .meta({ id: 'Problem' });

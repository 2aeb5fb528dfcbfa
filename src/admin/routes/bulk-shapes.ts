/** The shapes of bulk operations, as schemas. */
import * as z from 'zod';

const instant = z.number();

export const Bulk = z
  .strictObject({
    id: z.string(),
    what: z.string(),
    deed: z
      .strictObject({
        reason: z.string().optional(),
        isFresh: z.boolean().optional(),
        due: z.looseObject({}).optional(),
      })
      .describe('what it was told besides'),
    filter: z.string(),
    status: z.enum(['running', 'pausing', 'paused', 'cancelling', 'cancelled', 'completed']),
    isStalled: z.boolean().describe('it is to go on, and its run has ended without it: resume it'),
    isUnmanned: z.boolean().describe('it waits for a pod, and none is up'),
    rate: z.number().describe('runs a second'),
    limit: z.number().optional(),
    who: z.string(),
    via: z.string(),
    found: z.number(),
    done: z.number(),
    requested: z.number().describe('the pods that hold them will see to it'),
    already: z.number().describe('they were as asked'),
    refused: z.number(),
    refusals: z.record(z.string(), z.number()).describe('how many refused, by why'),
    samples: z
      .array(z.strictObject({ task: z.string(), why: z.string(), detail: z.string() }))
      .describe('the first that refused'),
    expected: z.number().optional().describe('how many there were when it began, if countable'),
    fraction: z.number().optional(),
    leftMs: z.number().optional().describe('how long the rest takes at its rate'),
    shift: z
      .strictObject({
        run: z.string(),
        count: z.number(),
        status: z.string().optional(),
        pod: z.string().optional(),
      })
      .describe('the run that is at it'),
    createdAt: instant.describe('runs that came later are not touched'),
    updatedAt: instant,
    endedAt: instant.optional(),
  })
  .meta({ id: 'Bulk' });

export const BulkTried = z.strictObject({
  isDryRun: z.literal(true),
  count: z.number(),
  isExact: z.boolean().describe('or there are more'),
  sample: z.array(
    z.strictObject({
      task: z.string(),
      machine: z.string(),
      status: z.string(),
      answer: z.string(),
      becomes: z.string().optional(),
      why: z.string().optional(),
    }),
  ),
});

export const BulkOrdered = z.strictObject({
  kind: z.enum(['done', 'requested', 'already']),
  isRepeated: z.boolean(),
  isDryRun: z.boolean(),
  requestId: z.string(),
  bulk: Bulk,
});

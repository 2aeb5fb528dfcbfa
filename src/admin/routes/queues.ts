/** Queues: what is in them, how many of their tasks may be claimed at once, and which stand still. */
import * as z from 'zod';
import { type FlowDeed, LIMIT_MAX } from '../../store/index.ts';
import { sharedOf } from '../desk/need-store.ts';
import { badRequest } from '../problem.ts';
import { ok, type Route, route } from '../table.ts';
import { tellActed } from './audit-note.ts';
import { guarded, instant, name, reason } from './shapes.ts';

const NAME_LENGTH_MAX = 500;

const Queue = z
  .strictObject({
    queue: z.string(),
    pending: z.number(),
    waiting: z.number(),
    claimed: z.number(),
    dueAt: instant.optional().describe('of the first that is pending'),
    limit: z.number().optional(),
    isPaused: z.boolean(),
    pausedBy: z.string().optional(),
    pausedAt: instant.optional(),
  })
  .meta({ id: 'Queue' });

const wanted = {
  what: z.enum(['queue.limit', 'queue.pause', 'queue.resume', 'machine.pause', 'machine.resume']),
  name: name(NAME_LENGTH_MAX).describe('of the queue, or of the machine'),
  limit: z
    .int()
    .min(0)
    .max(LIMIT_MAX)
    .nullable()
    .optional()
    .describe('of `queue.limit`: at most so many are claimed at once; null takes it away'),
  reason,
  dryRun: guarded.dryRun,
};

export const queueRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/queues',
    role: 'read',
    changes: 'none',
    summary: 'queues with what is in them, their limits, and what is paused',
    query: {},
    answers: {
      status: 200,
      schema: z.strictObject({
        queues: z.array(Queue),
        pausedMachines: z.array(
          z.strictObject({
            machine: z.string(),
            pausedBy: z.string().optional(),
            pausedAt: instant,
          }),
        ),
      }),
    },
    answer: async ({ desk }) => {
      const reader = await sharedOf(desk, 'queues').reader();
      return ok({ queues: await reader.queues(), pausedMachines: await reader.pausedMachines() });
    },
  }),
  route({
    method: 'POST',
    path: '/queues',
    role: 'operate',
    changes: 'act',
    summary: 'sets the limit of a queue, or lets a queue or a machine stand still or go on',
    query: {},
    body: wanted,
    answers: {
      status: 200,
      schema: z.strictObject({
        answer: z.enum(['done', 'already']),
        isRepeated: z.boolean(),
        isDryRun: z.boolean(),
      }),
    },
    answer: async (asked) => {
      if (asked.ifRevision !== undefined)
        throw badRequest('a queue has no revision: leave If-Match out');
      const deed = deedOf(asked.body);
      const isDryRun = asked.body.dryRun === true;
      const who = asked.who?.name ?? 'nobody';
      const { reason: why } = asked.body;
      const change = { requestId: asked.requestId, who, via: 'api', deed, reason: why, isDryRun };
      const { kind, isRepeated } = await sharedOf(asked.desk, 'queues').port.changeFlow(change);
      if (!isDryRun) tellActed(asked, deed.what, undefined);
      return ok({ answer: kind, isRepeated, isDryRun });
    },
  }),
];

function deedOf({ what, name: of, limit }: z.infer<z.ZodObject<typeof wanted>>): FlowDeed {
  if (what !== 'queue.limit') {
    if (limit !== undefined) throw badRequest(`${what} has no limit: leave it out`);
    return what === 'queue.pause' || what === 'queue.resume'
      ? { what, queue: of }
      : { what, machine: of };
  }
  if (limit === undefined) throw badRequest('queue.limit wants a limit: a whole number, or null');
  return { what, queue: of, limit: limit ?? undefined };
}

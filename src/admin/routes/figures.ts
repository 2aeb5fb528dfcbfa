/** Figures over many runs: how much there is of everything, and what phases take. */
import * as z from 'zod';
import { filterOf } from '../desk/filter.ts';
import { showing } from '../desk/mask.ts';
import { sharedOf } from '../desk/need-store.ts';
import { phaseTimes } from '../desk/phase-times.ts';
import { viewOfTask } from '../desk/views.ts';
import { ok, route } from '../table.ts';
import { lookedBackTo, Run, text, whole } from './shapes.ts';

/** Beyond it people want to know that there are many. */
const COUNTED_MAX = 10_000;
const TIMED_OTHERWISE = 50;
/** Each brings the records of a segment. */
const TIMED_MAX = 200;

const count = z.number().describe(`up to ${COUNTED_MAX}`);
const counts = z.array(z.strictObject({ machine: z.string(), count }));

export const figureRoutes = [
  route({
    method: 'GET',
    path: '/census',
    role: 'read',
    changes: 'none',
    summary:
      'how much there is to do, and for how long the oldest has been due; counts end at 10,000',
    query: {},
    answers: {
      status: 200,
      schema: z.strictObject({
        at: z.number(),
        routes: z.array(
          z.strictObject({
            route: z.string(),
            machine: z.string(),
            isLive: z.boolean().describe('a pod that is up has it'),
            pending: count,
            waits: z.record(z.string(), z.number()).describe('by what they wait for'),
            suspect: count,
            oldestMs: z.number().optional(),
          }),
        ),
        claimed: counts,
        deadLetters: counts,
        orphans: z.number().describe('held by pods that are gone'),
        orphansOldestMs: z.number().optional(),
        queues: z
          .array(
            z.strictObject({
              queue: z.string(),
              limit: z.number().optional(),
              isPaused: z.boolean(),
              claimed: z.number(),
            }),
          )
          .describe('those with a limit or a pause, 100 at most'),
        scheduleLateMs: z
          .number()
          .optional()
          .describe('for how long the first tick of a schedule has been due'),
        endedOldestMs: z
          .number()
          .optional()
          .describe('how long ago the first task ended that retention may remove'),
        keysLateMs: z
          .number()
          .optional()
          .describe('for how long the first key that has outlived its task could be free'),
        oldestTransactionMs: z
          .number()
          .optional()
          .describe('how long ago the oldest transaction of the Postgres server began'),
      }),
    },
    answer: async ({ desk }) => {
      const shared = sharedOf(desk, 'a census');
      const reader = await shared.reader();
      const at = await reader.now();
      return ok({ at, ...(await reader.census(COUNTED_MAX, shared.port.silentMs)) });
    },
  }),
  route({
    method: 'GET',
    path: '/runs/phases',
    role: 'read',
    changes: 'none',
    summary: 'runs, newest first, with what each of their phases has taken',
    query: {
      filter: text(2_000).optional().describe('as of `/runs`'),
      limit: whole(1, TIMED_MAX).optional(),
    },
    answers: {
      status: 200,
      schema: z.strictObject({
        runs: z.array(
          Run.extend({
            // None where it has very many records, or too much was read before it.
            phases: z.array(
              z.strictObject({
                phase: z.string(),
                ms: z.number(),
                tries: z.number(),
                failures: z.number(),
              }),
            ),
          }),
        ),
        lookedBackTo,
      }),
    },
    answer: async ({ desk, door, query }) => {
      const reader = await sharedOf(desk, 'times of phases').reader();
      const filter = filterOf(query.filter, door.isMasked);
      const found = await reader.page({ filter, countMax: query.limit ?? TIMED_OTHERWISE });
      const times = await phaseTimes(reader, found.tasks);
      const shown = showing(door.isMasked, desk.redacted);
      const runs = found.tasks.map((row) => ({
        ...viewOfTask(row, shown),
        ...(times.get(row.id) ?? { phases: [] }),
      }));
      return ok({ runs, lookedBackTo: found.lookedBackTo });
    },
  }),
];

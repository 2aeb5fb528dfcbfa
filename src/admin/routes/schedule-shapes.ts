/** The shapes of schedules, as schemas. */
import * as z from 'zod';
import { MISSED, OVERLAP } from '../../store/index.ts';
import { guarded, reason, text } from './shapes.ts';

const instant = z.number();

export const Schedule = z
  .strictObject({
    name: z.string(),
    status: z.enum(['active', 'paused', 'removed']),
    machine: z.string(),
    cron: z.string(),
    zone: z.string(),
    input: z.unknown().describe('any JSON; where it is masked {"isMasked":true,"bytes":…}'),
    tickAs: z.string().optional().describe('the property of the input that is given the tick'),
    missed: z.string(),
    overlap: z.string().describe('of ticks while the run before has not ended: `allow` or `skip`'),
    jitterMs: z.number(),
    queue: z.string(),
    priority: z.number(),
    source: z.string().describe('who said last what it says: `code` or `people`'),
    revision: z.number().describe('of the declaration in code that it last followed; 0: none'),
    edition: z.number().describe('raised by every tick and every change'),
    ticks: z.number().describe('how many were put in'),
    skipped: z.number().describe('how many were left out, since the run before had not ended'),
    next: z.array(instant).describe('the ticks to come, the first of which may be past'),
    lastAt: instant.optional(),
    lastRun: z.string().optional().describe('the last, of a tick or that people asked for'),
    lastRunAt: instant.optional(),
    trouble: z.string().optional().describe('why the last ticks were not put in, or not all'),
    isUnmanned: z.boolean().describe('no pod that is up has its machine'),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Schedule' });

export const ScheduleChanged = z.strictObject({
  kind: z.enum(['done', 'already', 'ignored']),
  isRepeated: z.boolean(),
  isDryRun: z.boolean(),
  requestId: z.string(),
  schedule: Schedule,
  run: z.string().optional().describe('of `run`: the one that was put in'),
});

export const wanted = {
  machine: text(200),
  cron: text(100).describe('minute, hour, day of the month, month, weekday; or `@daily`'),
  zone: text(64).optional().describe('a name such as Europe/Berlin; UTC where nothing is said'),
  input: z.unknown().optional().describe('as the machine wants it; null where nothing is said'),
  tickAs: text(200).optional(),
  missed: z.enum(MISSED as readonly ['skip', 'one', 'all']).optional(),
  overlap: z.enum(OVERLAP as readonly ['allow', 'skip']).optional(),
  jitter: z
    .union([z.string().max(100), z.number()])
    .optional()
    .describe("such as '30s'"),
  queue: text(200).optional(),
  priority: z.int().optional(),
  reason,
  dryRun: guarded.dryRun,
};

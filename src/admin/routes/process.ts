/** The process that answers: how it is, and to have it drain. */
import * as z from 'zod';
import { StoreUnreachableError } from '../../store/index.ts';
import { type Asked, ok, route } from '../table.ts';
import { audit, tellActed } from './audit-note.ts';
import { refuseNoFleet } from './local.ts';

export const processRoutes = [
  route({
    method: 'GET',
    path: '/status',
    role: 'read',
    changes: 'none',
    summary: 'the process and its load, alarms, why it is stalled',
    query: {},
    answers: { status: 200, schema: z.looseObject({ version: z.string().optional() }) },
    answer: async ({ desk }) => {
      const serves = { store: desk.shared !== undefined, journal: desk.journal !== undefined };
      return ok({ ...desk.about, ...desk.fleet?.status, serves });
    },
  }),
  route({
    method: 'POST',
    path: '/drain',
    role: 'admin',
    changes: 'act',
    summary: 'asks it to drain; 202 once it has heard so, before it begins',
    query: {},
    body: { dryRun: z.boolean().optional() },
    answers: { status: 202, schema: z.strictObject({ isAsked: z.boolean() }) },
    answer: async (asked) => {
      const { desk, response, body } = asked;
      const fleet = refuseNoFleet(desk, 'drain');
      const isAsked = body.dryRun !== true;
      if (isAsked) await noteDrain(asked);
      // The answer first: a process that has little in hand is gone a moment later.
      if (isAsked) response.once('close', () => fleet.requestDrain());
      return { status: 202, body: { isAsked } };
    },
  }),
];

/** A process is sent home also while the store is away: then its log alone has it. */
async function noteDrain(asked: Asked): Promise<void> {
  const { pod } = (asked.desk.fleet?.status ?? {}) as { readonly pod?: { readonly pod?: string } };
  try {
    await audit(asked, 'drain', undefined, { kind: 'requested', pod: pod?.pod });
  } catch (error) {
    if (!(error instanceof StoreUnreachableError)) throw error;
    tellActed(asked, 'drain', undefined);
  }
}

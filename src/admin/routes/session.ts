/** Browsers: a token is given once, and a cookie that scripts cannot read stands for it from then on. */
import * as z from 'zod';
import { isoTime } from '../../ground/index.ts';
import { StoreOptionsError, StoreUnreachableError } from '../../store/index.ts';
import { type Door, unknown } from '../door/door.ts';
import { logoutOf, type Session, type Sessions, setCookie } from '../door/sessions.ts';
import { RequestError } from '../problem.ts';
import { type Asked, ok, route } from '../table.ts';
import { audit } from './audit-note.ts';
import { text } from './shapes.ts';

const Who = z.strictObject({
  name: z.string(),
  role: z.string(),
  mayReveal: z.boolean(),
  by: z.enum(['socket', 'loopback', 'token', 'session']),
  csrf: z.string().optional().describe('to be sent as x-fleetq-csrf with every change'),
  expiresAt: z.string().optional(),
});

export const sessionRoutes = [
  route({
    method: 'POST',
    path: '/session',
    role: 'open',
    changes: 'session',
    summary: 'logs a browser in: a token for a cookie',
    query: {},
    body: { token: text(1_000) },
    answers: { status: 201, schema: Who },
    answer: async ({ door, body, address, request }) => {
      const sessions = sessionsOf(door);
      const grant = door.recognise(body.token, address);
      if (!grant) throw unknown('the token is not known here');
      const { value, session } = sessions.begin(grant);
      const isSecure = /^https:/i.test(request.headers.origin ?? '');
      const told = { name: grant.name, role: grant.role, mayReveal: grant.mayReveal };
      const answer = { ...told, by: 'session', ...ofSession(session) };
      return { status: 201, body: answer, headers: { 'set-cookie': setCookie(value, isSecure) } };
    },
  }),
  route({
    method: 'GET',
    path: '/session',
    role: 'read',
    changes: 'none',
    summary: 'who asks, and what they may do',
    query: {},
    answers: { status: 200, schema: Who },
    answer: async ({ who }) => {
      const { name, role, mayReveal, by, session } = who!;
      return ok({ name, role, mayReveal, by, ...(session ? ofSession(session) : {}) });
    },
  }),
  route({
    method: 'DELETE',
    path: '/session',
    role: 'read',
    changes: 'session',
    summary: 'logs the browser out',
    query: {},
    answers: { status: 200, schema: z.strictObject({ isEnded: z.boolean() }) },
    answer: async (asked) => ok(...(await ended(asked))),
  }),
];

/** Here at once; everywhere once the others look, or here alone where nothing can be written. */
async function ended(asked: Asked): Promise<[object, { 'set-cookie': string }]> {
  const { session } = asked.who ?? {};
  if (session) {
    asked.door.sessions?.end(session);
    await audit({ ...asked, requestId: logoutOf(session) }, 'logout', undefined).catch(refuseOther);
  }
  return [{ isEnded: session !== undefined }, { 'set-cookie': setCookie('', false, 0) }];
}

function refuseOther(error: unknown): void {
  if (error instanceof StoreUnreachableError || error instanceof StoreOptionsError) return;
  throw error;
}

function ofSession({ csrf, expiresAt }: Session): object {
  return { csrf, expiresAt: isoTime(expiresAt) };
}

function sessionsOf({ sessions }: Door): Sessions {
  if (sessions) return sessions;
  const said = 'nobody needs to log in here: no tokens are configured';
  throw new RequestError(409, 'FLEETQ_NO_TOKENS', said);
}

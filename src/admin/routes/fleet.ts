/** The fleet: its machines, its pods, who leads, and what was swept. */
import * as z from 'zod';
import { blockedCount, LiveRoutes, whyBlocked } from '../../fleet/index.ts';
import { show } from '../../ground/index.ts';
import { isOwnMachine, RECOVERY_PREFIX, type RouteTally } from '../../store/index.ts';
import type { Desk } from '../desk/desk.ts';
import { showing } from '../desk/mask.ts';
import { sharedOf } from '../desk/need-store.ts';
import { rescuesOf } from '../desk/rescues.ts';
import type { PodView } from '../desk/shared.ts';
import { viewOfTask } from '../desk/views.ts';
import { badRequest, RequestError } from '../problem.ts';
import { ok, route } from '../table.ts';
import { audit } from './audit-note.ts';
import {
  guarded,
  limit,
  lookedBackTo,
  Machine,
  Pod,
  Rescue,
  Run,
  source,
  text,
  whole,
  yes,
} from './shapes.ts';

const TERMS_OTHERWISE = 50;
const TERMS_MAX = 500;
const DOWN_OTHERWISE = 200;

export const fleetRoutes = [
  route({
    method: 'GET',
    path: '/machines',
    role: 'read',
    changes: 'none',
    summary: 'the machines this process has, and the versions that are live in the fleet',
    query: { source: source.optional().describe('`journal`: only those of this process') },
    answers: { status: 200, schema: z.strictObject({ machines: z.array(Machine) }) },
    answer: async ({ desk, query }) =>
      ok({ machines: await machinesOf(desk, query.source === 'journal') }),
  }),
  route({
    method: 'GET',
    path: '/pods',
    role: 'read',
    changes: 'none',
    summary: 'pods, oldest first, with what each holds',
    query: {
      all: yes.optional().describe('also those that are down, the newest of them'),
      limit: limit.describe(
        `no more than these of those that are down; ${DOWN_OTHERWISE} by default`,
      ),
    },
    answers: {
      status: 200,
      schema: z.strictObject({
        pods: z.array(Pod),
        omitted: z.number().optional().describe('of `all`: older pods that are down and left out'),
      }),
    },
    answer: async ({ desk, query }) => {
      const pods = await sharedOf(desk, 'pods').pods();
      if (query.all !== 'true') return ok({ pods: pods.filter(isThere) });
      const down = pods.filter((pod) => !isThere(pod));
      const omitted = Math.max(0, down.length - (query.limit ?? DOWN_OTHERWISE));
      const left = new Set(down.slice(0, omitted));
      return ok({ pods: pods.filter((pod) => !left.has(pod)), omitted });
    },
  }),
  route({
    method: 'POST',
    path: '/pods/:id/drain',
    role: 'admin',
    changes: 'act',
    summary: 'asks a pod, by id, to give back what it has and to end',
    query: {},
    body: {
      dryRun: guarded.dryRun,
      reason: text(1_000).optional().describe('for whoever reads the audit log'),
    },
    answers: { status: 202, schema: z.strictObject({ pod: Pod, isAsked: z.boolean() }) },
    answer: async (asked) => {
      const { desk, id } = asked;
      const shared = sharedOf(desk, 'pods');
      const pod = (await shared.pods()).find((row) => row.pod === id);
      if (!pod) throw noPod(id);
      if (asked.ifRevision !== undefined) {
        throw badRequest(
          'the id of a pod names one life of it, and is its guard: leave If-Match out',
        );
      }
      if (isResting(pod)) throw podRests(pod);
      if (asked.body.dryRun === true) return { status: 202, body: { pod, isAsked: false } };
      const wasAsked = pod.desired === 'drain';
      if (pod.status !== 'up') return { status: 202, body: { pod, isAsked: wasAsked } };
      const { reason } = asked.body;
      const detail = { kind: 'requested', pod: pod.pod, name: pod.name, reason };
      const isRepeated = await audit(asked, 'drain', undefined, detail);
      const isAsked = (await shared.port.requestDrain(pod.pod)) || isRepeated;
      return { status: 202, body: { pod, isAsked } };
    },
  }),
  route({
    method: 'GET',
    path: '/leader',
    role: 'read',
    changes: 'none',
    summary: 'who leads, and who led since when',
    query: { limit: whole(1, TERMS_MAX).optional() },
    answers: {
      status: 200,
      schema: z.strictObject({
        leader: Pod.nullable(),
        terms: z.array(z.strictObject({ pod: z.string(), name: z.string(), since: z.number() })),
      }),
    },
    answer: async ({ desk, query }) => {
      const shared = sharedOf(desk, 'a leader');
      const terms = await (await shared.reader()).leaderTerms(query.limit ?? TERMS_OTHERWISE);
      const leader = (await shared.pods()).find(({ isLeader }) => isLeader) ?? null;
      return ok({ leader, terms });
    },
  }),
  route({
    method: 'GET',
    path: '/sweeps',
    role: 'read',
    changes: 'none',
    summary: 'what leaders have recovered, newest first: runs of recovery machines',
    query: { cursor: text(1_000).optional(), limit },
    answers: {
      status: 200,
      schema: z.strictObject({
        sweeps: z.array(Run.extend({ rescues: z.array(Rescue).optional() })),
        cursor: z.string().optional(),
        lookedBackTo,
      }),
    },
    answer: async ({ desk, door, query }) => {
      const reader = await sharedOf(desk, 'sweeps').reader();
      const words = [`${RECOVERY_PREFIX}*`];
      const filter = { terms: [{ kind: 'words', field: 'machine', isNot: false, words } as const] };
      const { cursor, limit: countMax = TERMS_OTHERWISE } = query;
      const found = await reader.page({ filter, cursor, countMax });
      const shown = showing(door.isMasked, desk.redacted);
      const rescues = await rescuesOf(reader, found.tasks, shown);
      const sweeps = found.tasks.map((row) => ({
        ...viewOfTask(row, shown),
        rescues: rescues.get(row.id),
      }));
      return ok({ sweeps, cursor: found.cursor, lookedBackTo: found.lookedBackTo });
    },
  }),
];

/** One that rests is down by its own word, and comes back. */
const isResting = ({ status, desired }: PodView) => status === 'down' && desired === 'rest';
const isThere = (pod: PodView) => pod.status !== 'down' || isResting(pod);

function podRests({ pod, name }: PodView): RequestError {
  const hint = 'it holds nothing, and comes back when there is work: end its process with SIGTERM';
  const said = `the pod ${pod} (${name}) rests, and hears nobody`;
  return new RequestError(409, 'FLEETQ_POD_GONE', said, hint);
}

function noPod(id: string): RequestError {
  const hint = 'GET /api/v1/pods lists those that are there';
  return new RequestError(404, 'FLEETQ_POD_NOT_FOUND', `there is no pod ${show(id)}`, hint);
}

/** By name, the newest version first. */
async function machinesOf(desk: Desk, isLocal: boolean): Promise<object[]> {
  const here = new Map(
    desk.machines.map((machine) => [`${machine.name}@${machine.version}`, machine]),
  );
  if (!desk.shared || isLocal)
    return [...here.values()].map((machine) => ({ ...machine, isHere: true }));
  const reader = await desk.shared.reader();
  const live = new LiveRoutes(await reader.pods());
  const known = new Map((await reader.known()).map((route) => [route.route, route.firstSeenAt]));
  const tallies = new Map((await reader.inFlight()).map((tally) => [tally.route, tally]));
  const routes = new Set([...here.keys(), ...known.keys(), ...tallies.keys(), ...live.routes]);
  return [...routes]
    .filter((route) => here.has(route) || !isOwnMachine(route))
    .map((route) => {
      const tally = tallies.get(route) ?? nothingOf(route);
      const { machine: name, version, pending, waiting, claimed } = tally;
      const blocked = blockedCount(live, tally);
      return {
        name,
        version,
        ...here.get(route),
        isHere: here.has(route),
        pods: live.podCount(route),
        pending,
        waiting,
        claimed,
        blocked,
        why: blocked > 0 ? whyBlocked(live, tally) : undefined,
        firstSeenAt: known.get(route),
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : b.version - a.version));
}

function nothingOf(route: string): RouteTally {
  const at = route.lastIndexOf('@');
  const [machine, version] = [route.slice(0, at), Number(route.slice(at + 1))];
  const none = { pending: 0, waiting: 0, claimed: 0, pinned: 0, shelved: 0, suspect: 0 };
  return { route, machine, version, ...none };
}

/** A new run: a task of the fleet where there is a store, else one of this process. */
import * as z from 'zod';
import { faultOfTaskKey } from '../../config/index.ts';
import { dateOf, type RunId, show } from '../../ground/index.ts';
import { FOLLOWS_ON, type Follows } from '../../store/index.ts';
import { findRun, revisionIn, viewOf } from '../desk/find-run.ts';
import { showing } from '../desk/mask.ts';
import { refuseUnknown } from '../limits.ts';
import { badRequest } from '../problem.ts';
import { type Asked, ok, route } from '../table.ts';
import { dueOf } from './acts.ts';
import { audit, noteOf, tellActed } from './audit-note.ts';
import { refuseNoFleet } from './local.ts';
import { guarded, name, Run, source, text } from './shapes.ts';

const KEY_LENGTH_MAX = 512;
const RUN_CHARS_MAX = 100;

const PRIORITY_MAX = 32_767;
const RETRIES_MAX = 1_000_000;

/** Of tasks of the fleet: a run of this process alone is begun at once, and by nobody else. */
const flow = {
  queue: name(KEY_LENGTH_MAX).optional().describe('`default` where nothing is said'),
  serialKey: name(KEY_LENGTH_MAX)
    .optional()
    .describe('tasks of one queue with one serial key run one after the other'),
  priority: z
    .int()
    .min(-PRIORITY_MAX)
    .max(PRIORITY_MAX)
    .optional()
    .describe('higher goes first; 0 where nothing is said'),
  runAt: z
    .union([z.string().max(100), z.number()])
    .optional()
    .describe('due after a duration, or at a time with its zone'),
  retriesMax: z
    .int()
    .min(1)
    .max(RETRIES_MAX)
    .optional()
    .describe('an extra cap on failures, beside that of the machine'),
};

const body = {
  machine: text(200),
  input: z.unknown().optional().describe('as the machine wants it; null where nothing is said'),
  key: name(KEY_LENGTH_MAX).nullable().optional().describe('starts with one key are one run'),
  ...flow,
  after: text(RUN_CHARS_MAX).optional().describe('the run after which it goes; with a store alone'),
  on: z
    .enum(FOLLOWS_ON as readonly ['success', 'end'])
    .optional()
    .describe('of `after`: once that has completed, or has ended, however; `success` otherwise'),
  dryRun: guarded.dryRun,
};
const Checked = z.strictObject({ isDryRun: z.literal(true), machine: z.string() });
type Starting = Asked<
  { source?: 'journal' | 'store' | undefined },
  z.infer<z.ZodObject<typeof body>>
>;

export const startRoutes = [
  route({
    method: 'POST',
    path: '/runs',
    role: 'operate',
    changes: 'act',
    summary: 'starts a run of the newest version of a machine; 201 once it is durable',
    query: { source: source.optional().describe('`journal`: a run of this process alone') },
    body,
    answers: {
      status: 201,
      schema: z.union([Run, Checked]),
      also: { 200: 'it was only tried: `dryRun`' },
    },
    answer: async (asked) => {
      const { desk, query } = asked;
      const isLocal = query.source === 'journal' || desk.shared === undefined;
      const follows = followsOf(asked.body);
      if (isLocal) refuseFlow(asked.body);
      else refuseBadFlow(asked.body);
      refuseUnknown(desk, asked.body.machine);
      if (asked.ifRevision !== undefined) {
        throw badRequest('a run that is to be started has no revision yet: leave If-Match out');
      }
      if (asked.body.dryRun === true) {
        await checked(asked);
        if (follows) await findRun(desk, follows.run, 'store');
        return ok({ isDryRun: true, machine: asked.body.machine });
      }
      const id = await begun(asked, isLocal, follows);
      const found = await findRun(desk, id, isLocal ? 'journal' : undefined);
      // Whoever has sent the input may see it.
      const view = viewOf(desk, found, showing(asked.door.isMasked, desk.redacted));
      const revision = revisionIn(found);
      const headers = revision === undefined ? undefined : { etag: `"${revision}"` };
      return { status: 201, body: view, headers };
    },
  }),
];

async function begun(
  asked: Starting,
  isLocal: boolean,
  follows: Follows | undefined,
): Promise<RunId> {
  const input = asked.body.input ?? null;
  try {
    return isLocal ? await begunHere(asked, input) : await begunShared(asked, input, follows);
  } catch (error) {
    // How the public API refuses an argument that has the wrong form.
    if (error instanceof TypeError) throw badRequest(error.message);
    throw error;
  }
}

const FLOW_NAMES = [...Object.keys(flow), 'after'] as (keyof typeof flow | 'after')[];

function refuseFlow(given: Starting['body']): void {
  const said = FLOW_NAMES.find((each) => given[each] !== undefined);
  if (said !== undefined)
    throw badRequest(`a run of this process alone has no ${said}: leave it out`);
}

/** What a dry run would otherwise not find. */
function refuseBadFlow(given: Starting['body']): void {
  const { key, after, runAt, serialKey } = given;
  const fault = key === undefined || key === null ? undefined : faultOfTaskKey(key);
  if (fault !== undefined) throw badRequest(`key ${fault}, got ${show(key)}`);
  if (runAt !== undefined) dueOf(runAt);
  if (after === undefined || (runAt === undefined && serialKey === undefined)) return;
  const other = runAt === undefined ? 'serialKey' : 'runAt';
  throw badRequest(`after and ${other} cannot be given together: it is due when that run ends`);
}

function runAtOf({ runAt }: Starting['body']): number | Date | undefined {
  const due = runAt === undefined ? undefined : dueOf(runAt);
  return due && ('at' in due ? dateOf(due.at) : due.afterMs);
}

function followsOf({ after, on }: Starting['body']): Follows | undefined {
  if (after !== undefined) return { run: after, on: on ?? 'success' };
  if (on !== undefined) throw badRequest('on says when it follows a run: give after too');
  return undefined;
}

/** A request that names itself is one start, however often it is sent. */
function keyOf({ body, isNamed, requestId }: Starting): string | undefined {
  return body.key ?? (isNamed ? `request:${requestId}` : undefined);
}

async function begunShared(
  asked: Starting,
  input: unknown,
  follows: Follows | undefined,
): Promise<RunId> {
  const { machine, queue, serialKey, priority, runAt, retriesMax } = asked.body;
  const key = keyOf(asked);
  const given = { queue, serialKey, priority, retriesMax };
  const note = noteOf(asked, 'start', { machine, key, follows, ...given, runAt });
  const way = { key, after: follows?.run, on: follows?.on, ...given, runAt: runAtOf(asked.body) };
  const { id } = await asked.desk.shared!.port.start(machine, input, { ...way, note });
  tellActed(asked, 'start', id);
  return id;
}

/** The journal and the store have no transaction in common: the row comes first, with the run's key. */
async function begunHere(asked: Starting, input: unknown): Promise<RunId> {
  const { desk } = asked;
  const { machine } = asked.body;
  const fleet = refuseNoFleet(desk, 'start a run');
  const key = desk.shared ? (keyOf(asked) ?? `request:${asked.requestId}`) : keyOf(asked);
  if (desk.shared) await checked(asked);
  await audit(asked, 'start', undefined, { kind: 'requested', source: 'journal', machine, key });
  const { id } = await fleet.startByName(machine, input, { key });
  return id as RunId;
}

async function checked({ desk, body: wanted }: Starting): Promise<void> {
  const { machine, input = null } = wanted;
  await (desk.shared?.port ?? refuseNoFleet(desk, 'start a run')).checkInput(machine, input);
}

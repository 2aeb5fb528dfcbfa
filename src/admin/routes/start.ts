/** A new run: a task of the fleet where there is a store, else one of this process. */
import * as z from 'zod';
import type { RunId } from '../../ground/index.ts';
import { findRun, revisionIn, viewOf } from '../desk/find-run.ts';
import { showing } from '../desk/mask.ts';
import { refuseUnknown } from '../limits.ts';
import { badRequest } from '../problem.ts';
import { type Asked, ok, route } from '../table.ts';
import { audit } from './audit-note.ts';
import { refuseNoFleet } from './local.ts';
import { guarded, Run, source, text } from './shapes.ts';

const KEY_LENGTH_MAX = 512;

const body = {
  machine: text(200),
  input: z.unknown().optional().describe('as the machine wants it; null where nothing is said'),
  key: text(KEY_LENGTH_MAX).nullable().optional().describe('starts with one key are one run'),
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
    answers: { status: 201, schema: z.union([Run, Checked]) },
    answer: async (asked) => {
      const { desk, query } = asked;
      const isLocal = query.source === 'journal' || desk.shared === undefined;
      refuseUnknown(desk, asked.body.machine);
      if (asked.body.dryRun === true) {
        await checked(asked);
        return ok({ isDryRun: true, machine: asked.body.machine });
      }
      const id = await begun(asked, isLocal);
      const found = await findRun(desk, id, isLocal ? 'journal' : undefined);
      // Whoever has sent the input may see it.
      const view = viewOf(desk, found, showing(asked.door.isMasked, desk.redacted));
      const revision = revisionIn(found);
      const headers = revision === undefined ? undefined : { etag: `"${revision}"` };
      return { status: 201, body: view, headers };
    },
  }),
];

async function begun(asked: Starting, isLocal: boolean): Promise<RunId> {
  const { desk, body: wanted } = asked;
  // A request that names itself is one start, however often it is sent.
  const key = wanted.key ?? (asked.isNamed ? `request:${asked.requestId}` : undefined);
  try {
    const input = wanted.input ?? null;
    const { id } = isLocal
      ? await refuseNoFleet(desk, 'start a run').startByName(wanted.machine, input, { key })
      : await desk.shared!.port.enqueueByName(wanted.machine, input, { key });
    await audit(asked, 'start', id as RunId, { machine: wanted.machine, key });
    return id as RunId;
  } catch (error) {
    // How the public API refuses an argument that has the wrong form.
    if (error instanceof TypeError) throw badRequest(error.message);
    throw error;
  }
}

async function checked({ desk, body: wanted }: Starting): Promise<void> {
  const { machine, input = null } = wanted;
  await (desk.shared?.port ?? refuseNoFleet(desk, 'start a run')).checkInput(machine, input);
}

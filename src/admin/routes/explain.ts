/** Why a run does not run, how it ended, and why phases of it ran twice. */
import * as z from 'zod';
import { lookingCodec } from '../../journal/index.ts';
import { StoreUnreachableError } from '../../store/index.ts';
import type { Desk } from '../desk/desk.ts';
import { type Found, findRun, type Source } from '../desk/find-run.ts';
import type { Shown } from '../desk/mask.ts';
import { mayDo } from '../door/door.ts';
import { CODES, type Code, explain, type Facts, factsOfRun, gatherTask } from '../explain/index.ts';
import { type Asked, ok, route } from '../table.ts';
import { revealed } from './reveal.ts';
import { source, yes } from './shapes.ts';

const codes = Object.keys(CODES) as [Code, ...Code[]];

const Finding = z
  .strictObject({
    code: z.enum(codes),
    sentence: z.string(),
    evidence: z.array(
      z.strictObject({
        text: z.string(),
        seq: z.number().optional().describe('of a record'),
        epoch: z.number().optional(),
        pod: z.string().optional(),
        at: z.number().optional().describe('milliseconds since the epoch'),
      }),
    ),
    hint: z.strictObject({ text: z.string(), command: z.string() }),
  })
  .meta({ id: 'Finding' });

export const explainRoutes = [
  route({
    method: 'GET',
    path: '/runs/:id/explain',
    role: 'read',
    changes: 'none',
    summary: 'why it does not run, or how it ended, and why phases ran twice; the reason first',
    query: {
      source: source.optional(),
      reveal: yes.optional().describe('show payloads that are masked; a role, and audited'),
    },
    answers: {
      status: 200,
      schema: z.strictObject({
        id: z.string(),
        at: z.number().describe('by which clock it is told: of the store, or of this host'),
        findings: z.array(Finding).min(1),
      }),
    },
    answer: async (of) => {
      const { found, away } = await findHereOrThere(of);
      const facts = { ...(await factsOf(of, found, await revealed(of))), away };
      return ok({ id: found.id, at: facts.now, findings: explain(facts) });
    },
  }),
];

/** While the store does not answer, the journal of this process tells what it knows. */
async function findHereOrThere({
  desk,
  id,
  query,
}: Asked & { query: { source?: Source | undefined } }) {
  try {
    return { found: await findRun(desk, id, query.source), away: undefined };
  } catch (error) {
    if (!(error instanceof StoreUnreachableError) || query.source === 'store') throw error;
    const found = await findRun(desk, id, 'journal').catch(() => {
      throw error;
    });
    const { pod } = (desk.fleet?.status ?? {}) as { pod?: { aloneMs?: number } };
    return { found, away: { aloneMs: pod?.aloneMs } };
  }
}

async function factsOf({ desk, who }: Asked, found: Found, shown: Shown): Promise<Facts> {
  const { machines } = desk;
  const run = found.run && { summary: found.run, records: ownRecords(desk, found) };
  if (!found.row) {
    const now = desk.clock.now();
    return factsOfRun(run!, { now, isHeld: desk.fleet !== undefined, shown, machines });
  }
  const shared = desk.shared!;
  return gatherTask(
    await shared.reader(),
    found.row,
    {
      codec: lookingCodec(desk.codec),
      silentMs: shared.port.silentMs,
      shown,
      // Who did what is in the audit log, which is not for everybody.
      mayAudit: who !== undefined && mayDo(who, 'admin'),
      machines,
    },
    run,
  );
}

/** Of the generation, and the epoch, that counts; what this host has of an earlier one is history. */
function ownRecords({ journal }: Desk, { id, run, row }: Found): ReturnType<RecordsOf> {
  if (!run || run.status === 'quarantined') return [];
  if (!row) return journal!.events(id);
  const isSame = run.generation === undefined || run.generation === row.generation;
  return isSame && row.status === 'claimed' && run.seq >= row.lastSeq ? journal!.events(id) : [];
}

type RecordsOf = NonNullable<Desk['journal']>['events'];

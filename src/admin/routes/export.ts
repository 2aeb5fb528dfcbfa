/** One task as one file, the same that `fleetq export` writes: sealed where it is stored sealed. */
import * as z from 'zod';
import { RunNotFoundError } from '../../engine/index.ts';
import { headOf, isLargerThan, sealedFile, taskFile } from '../../fleet/index.ts';
import { isRunId } from '../../ground/index.ts';
import { asStored } from '../../store/index.ts';
import type { Desk } from '../desk/desk.ts';
import { sharedOf } from '../desk/need-store.ts';
import { EXPORT_BYTES_MAX } from '../limits.ts';
import { RequestError } from '../problem.ts';
import { ok, route } from '../table.ts';
import { refuseReveal, revealed } from './reveal.ts';

const File = z.looseObject({
  kind: z.literal('fleetq.run'),
  format: z.number(),
  id: z.string(),
  task: z.looseObject({ id: z.string() }),
  generations: z.array(z.looseObject({ generation: z.number(), records: z.array(z.unknown()) })),
  seal: z.string().describe('over the values of all the rest'),
});

export const exportRoutes = [
  route({
    method: 'GET',
    path: '/runs/:id/export',
    role: 'read',
    changes: 'none',
    reveals: true,
    summary: 'one task as one file, as `fleetq export` writes it; who may reveal payloads alone',
    query: {},
    answers: { status: 200, schema: File },
    answer: async (of) => {
      const { desk, id } = of;
      refuseReveal(of);
      const reader = asStored(await sharedOf(desk, 'a file of a run').reader());
      const [task] = isRunId(id) ? await reader.find([id]) : [];
      if (!task) throw new RunNotFoundError(id);
      refuseRedacted(desk);
      if (await isLargerThan(EXPORT_BYTES_MAX, reader, task)) throw tooLarge(id);
      await revealed({ ...of, isRevealing: true });
      const from = { kind: 'store', where: 'the store, by the admin API' } as const;
      const file = await taskFile(reader, task, headOf(task.id, from, desk.clock.now()));
      return ok(sealedFile(file), {
        'content-disposition': `attachment; filename="${task.id}.run.json"`,
      });
    },
  }),
];

/** Records are held against their hashes: a file that leaves something out of them would be refused. */
function refuseRedacted({ redacted }: Desk): void {
  if (redacted.length === 0) return;
  throw new RequestError(
    403,
    'FLEETQ_FORBIDDEN',
    'parts of payloads are redacted here, and a file of a run leaves nothing out',
    'whoever may read the store takes it with: fleetq export',
  );
}

function tooLarge(id: string): RequestError {
  const said = `the records of run ${id} are larger than ${EXPORT_BYTES_MAX} bytes`;
  return new RequestError(413, 'FLEETQ_TOO_LARGE', said, `take it with: fleetq export ${id}`);
}

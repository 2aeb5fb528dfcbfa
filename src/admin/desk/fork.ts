/** A fork's beginning: the records of a run up to a phase, under the id of the new one. */
import { RunNotFoundError } from '../../engine/index.ts';
import { forkOf } from '../../fleet/index.ts';
import { type Json, type RunId, runIdMint } from '../../ground/index.ts';
import type { Deed } from '../../store/index.ts';
import type { Desk } from './desk.ts';
import { sharedOf } from './need-store.ts';
import { archivedRecords } from './records.ts';

export async function forkDeed(
  desk: Desk,
  id: RunId,
  { from, input }: { readonly from: string; readonly input?: unknown },
): Promise<Deed> {
  const shared = sharedOf(desk, 'a fork');
  const reader = await shared.reader();
  const [row] = await reader.find([id]);
  if (!row) throw new RunNotFoundError(id);
  if (input !== undefined) await shared.port.checkInput(row.machine, input, row.version);
  const records = await archivedRecords(reader, row, desk.codec);
  const source = { task: id, generation: row.generation, records };
  const as = runIdMint(desk.clock, desk.random)();
  return forkOf(source, { as, from, input: input as Json | undefined, codec: desk.codec });
}

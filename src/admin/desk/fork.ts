/** A fork's beginning: the records of a run up to a phase, under the id of the new one. */
import type { RunId } from '../../ground/index.ts';
import type { Deed } from '../../store/index.ts';
import { RequestError } from '../problem.ts';
import type { Desk } from './desk.ts';

export async function forkDeed(
  _desk: Desk,
  id: RunId,
  _wanted: { readonly from: string; readonly input?: unknown },
): Promise<Deed> {
  throw new RequestError(409, 'FLEETQ_NO_STORE', `${id} cannot be forked here`);
}

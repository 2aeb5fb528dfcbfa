/** The user's own look at the world around a case: how often his effect happened, and whether all is well. */
import { describeError, show } from '../ground/index.ts';
import type { Ended } from './case-ledger.ts';
import type { CrashPlace, CrashPlan } from './crash-options.ts';
import { CrashTestOptionsError } from './errors.ts';

/** Where the files of one case are; only `directory` is the user's. */
export interface CaseRoom extends CrashPlace {
  readonly dataDir: string;
  readonly ledger: string;
  readonly orders: string;
}

/** How many effects happened while `act` went on; undefined where nobody counts them. */
export async function measured<T>(
  plan: CrashPlan,
  room: CaseRoom,
  act: () => Promise<T>,
): Promise<{ readonly value: T; readonly effects: number | undefined }> {
  const before = await countOf(plan, room);
  const value = await act();
  const after = await countOf(plan, room);
  const effects = before === undefined || after === undefined ? undefined : after - before;
  return { value, effects };
}

async function countOf({ effects }: CrashPlan, room: CaseRoom): Promise<number | undefined> {
  if (!effects) return undefined;
  const count: unknown = await effects(placeOf(room));
  if (typeof count === 'number' && Number.isFinite(count)) return count;
  throw new CrashTestOptionsError(`effects must answer a number, got ${show(count)}`);
}

/** Why the user refuses what he sees; undefined where he does not. */
export async function verified(
  { verify }: CrashPlan,
  room: CaseRoom,
  { outcome, output }: Ended,
): Promise<string | undefined> {
  if (!verify || !outcome) return undefined;
  try {
    await verify({ ...placeOf(room), outcome, output });
    return undefined;
  } catch (thrown) {
    return describeError(thrown).message;
  }
}

function placeOf({ name, directory }: CaseRoom): CrashPlace {
  return { name, directory };
}

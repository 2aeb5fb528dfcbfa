/** Which run a task follows, as somebody typed it, or put it into a file. */
import { show } from '../../ground/index.ts';
import { FOLLOWS_ON, type Follows, type FollowsOn } from '../../store/index.ts';
import { UsageError } from '../errors.ts';
import { readKey } from '../input.ts';

export interface FollowsSaid {
  readonly after: unknown;
  readonly on: unknown;
  /** What is said besides, which does not go together with it. */
  readonly due: unknown;
  readonly serialKey: unknown;
}

/** What each of them is called where it is said. */
export type FollowsNames = Readonly<Record<keyof FollowsSaid, string>>;

export function readFollows(said: FollowsSaid, names: FollowsNames): Follows | undefined {
  const run = readKey(said.after, names.after);
  const { on = 'success' } = said;
  if (!FOLLOWS_ON.includes(on as FollowsOn)) {
    throw new UsageError(`${names.on} wants success or end, got ${show(on)}`);
  }
  if (run === undefined) {
    if (said.on === undefined) return undefined;
    throw new UsageError(`${names.on} says when it follows a run: give ${names.after} too`);
  }
  for (const name of ['due', 'serialKey'] as const) {
    if (said[name] === undefined) continue;
    throw new UsageError(`${names.after} and ${names[name]} cannot be given together`, {
      hint: 'what follows a run is due when that has ended',
    });
  }
  return { run, on: on as FollowsOn };
}

/** What was found out about an API, and survives restarts and changes of the leader. */
export interface Learned {
  readonly cap: number;
  readonly good: number | undefined;
  readonly latencyMs: number | undefined;
  /** What calls take where nobody waits in line; not known to all versions. */
  readonly baseMs?: number | undefined;
  /** The lowest cap that was too much, and when that was. */
  readonly bad?: Bad | undefined;
  /** What went well before an API took much less, and when it fell; not known to all versions. */
  readonly fellFrom?: Bad | undefined;
  readonly changedMs?: number | undefined;
}

export interface Bad {
  readonly cap: number;
  readonly atMs: number;
}

/** What was learned a while ago, as a beginning: a little less than what went well. */
export function remembered({ good, latencyMs, baseMs }: Learned): Learned | undefined {
  return good === undefined ? undefined : { cap: good * 0.95, good, latencyMs, baseMs };
}

/** Of what was found out, what says nothing of a limit. */
export function latencyOf({ cap, latencyMs }: Learned): Learned {
  return { cap, good: undefined, latencyMs };
}

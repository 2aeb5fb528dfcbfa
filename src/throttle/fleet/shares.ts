/**
 * Divides a cap among pods by what they ask for: everybody gets what they want up to a level, such that
 * it adds up. What is published are a few numbers and not a list: each pod finds its own share from them
 * and from the demand it has told. Whole permits that do not divide go to an arc of the ring of pods.
 */
export interface Asking {
  /** Places the pod on the ring; unique. */
  readonly key: string;
  /** Calls that it has in flight or waiting. */
  readonly demand: number;
}

export interface Division {
  /** Nobody gets more than this, before what is left over. */
  readonly level: number;
  /** Everybody gets this on top: demand was less than the cap, and the rest is held ready. */
  readonly spare: number;
  /** There is enough for all. */
  readonly isPlenty: boolean;
  /** One more for those on this stretch of the ring who would take it. */
  readonly arc: { readonly from: string; readonly to: string } | undefined;
}

/** `from` is where the arc of the last division began: permits that stay where they are cost nothing. */
export function divide(cap: number, pods: readonly Asking[], from?: string | undefined): Division {
  const whole = Math.floor(cap + 1e-9);
  if (pods.length === 0) return { level: whole, spare: 0, isPlenty: true, arc: undefined };
  const wanted = pods.reduce((all, { demand }) => all + demand, 0);
  if (wanted <= whole) {
    const left = whole - wanted;
    const level = Math.max(...pods.map(({ demand }) => demand));
    const spare = Math.floor(left / pods.length);
    return { level, spare, isPlenty: true, arc: arcOf(pods, left - spare * pods.length, from) };
  }
  const level = levelOf(whole, pods);
  const given = pods.reduce((all, { demand }) => all + Math.min(demand, level), 0);
  const hungry = pods.filter(({ demand }) => demand > level);
  return { level, spare: 0, isPlenty: false, arc: arcOf(hungry, whole - given, from) };
}

/** What a pod may have out at once that told this demand. */
export function shareOf({ level, spare, isPlenty, arc }: Division, asking: Asking): number {
  const { key, demand } = asking;
  const takesMore = isPlenty || demand > level;
  return Math.min(demand, level) + spare + (arc && takesMore && isOn(arc, key) ? 1 : 0);
}

/** The highest whole level at which all shares together fit. */
function levelOf(whole: number, pods: readonly Asking[]): number {
  const demands = pods.map(({ demand }) => demand).sort((a, b) => a - b);
  let left = whole;
  for (const [index, demand] of demands.entries()) {
    const heads = demands.length - index;
    if (demand * heads > left) return Math.floor(left / heads);
    left -= demand;
  }
  return demands.at(-1)!;
}

function arcOf(pods: readonly Asking[], count: number, from: string | undefined): Division['arc'] {
  if (count <= 0) return undefined;
  const keys = pods.map(({ key }) => key).sort();
  const first =
    from === undefined
      ? 0
      : Math.max(
          0,
          keys.findIndex((key) => key >= from),
        );
  const last = (first + Math.min(count, keys.length) - 1) % keys.length;
  return { from: keys[first]!, to: keys[last]! };
}

function isOn({ from, to }: NonNullable<Division['arc']>, key: string): boolean {
  return from <= to ? key >= from && key <= to : key >= from || key <= to;
}

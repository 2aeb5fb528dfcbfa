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
  /** So many of them are out for long, whatever it is given: nobody else has their permits meanwhile. */
  readonly out?: number;
}

export interface Division {
  /** Of rates that were declared, where that goes by what is wanted of them. */
  readonly rates?: { readonly level: number; readonly spare: number } | undefined;
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
  const wanted = takenAt(Number.POSITIVE_INFINITY, pods);
  if (wanted <= whole) {
    const left = whole - wanted;
    const level = mostWanted(pods);
    const spare = Math.floor(left / pods.length);
    return { level, spare, isPlenty: true, arc: arcOf(pods, left - spare * pods.length, from) };
  }
  const most = Math.max(whole, takenAt(0, pods));
  const level = levelOf(whole, most, pods);
  const left = whole - givenAt(level, pods);
  const hungry = pods.filter(({ demand }) => demand > level);
  const free = most - takenAt(level, pods);
  return { level, spare: 0, isPlenty: false, arc: arcOf(hungry, left, from, { level, free }) };
}

/** What a pod may have out at once that told this demand. */
export function shareOf({ level, spare, isPlenty, arc }: Division, asking: Asking): number {
  const { key, demand } = asking;
  const takesMore = isPlenty || demand > level;
  return Math.min(demand, level) + spare + (arc && takesMore && isOn(arc, key) ? 1 : 0);
}

/** The highest whole level at which all shares fit, and with them what is out beyond them. */
function levelOf(whole: number, most: number, pods: readonly Asking[]): number {
  let low = 0;
  let high = Math.floor(mostWanted(pods));
  while (low < high) {
    const level = Math.ceil((low + high) / 2);
    if (givenAt(level, pods) <= whole && takenAt(level, pods) <= most) low = level;
    else high = level - 1;
  }
  return low;
}

function mostWanted(pods: readonly Asking[]): number {
  let most = 0;
  for (const { demand } of pods) most = Math.max(most, demand);
  return most;
}

function givenAt(level: number, pods: readonly Asking[]): number {
  let all = 0;
  for (const { demand } of pods) all += Math.min(demand, level);
  return all;
}

/** What is out or may be: permits that are out beyond a share are not another's before they are back. */
function takenAt(level: number, pods: readonly Asking[]): number {
  let all = 0;
  for (const { demand, out = 0 } of pods) all += Math.max(Math.min(demand, level), out);
  return all;
}

/** In the order in which they stand on the ring. */
export function ringOf<Pod extends Asking>(pods: readonly Pod[]): readonly Pod[] {
  for (let at = 1; at < pods.length; at++) {
    if (pods[at - 1]!.key > pods[at]!.key) return pods.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  }
  return pods;
}

/** One more is one of those that are free, but for whoever has more than the level out: it has its own. */
function arcOf(
  pods: readonly Asking[],
  count: number,
  from: string | undefined,
  { level = Number.POSITIVE_INFINITY, free = Number.POSITIVE_INFINITY } = {},
): Division['arc'] {
  if (count <= 0) return undefined;
  const ring = ringOf(pods);
  const found = from === undefined ? 0 : ring.findIndex(({ key }) => key >= from);
  const first = Math.max(0, found);
  let [size, left] = [0, free];
  while (size < Math.min(count, ring.length)) {
    const { out = 0 } = ring[(first + size) % ring.length]!;
    if (out <= level && --left < 0) break;
    size++;
  }
  if (size === 0) return undefined;
  return { from: ring[first]!.key, to: ring[(first + size - 1) % ring.length]!.key };
}

function isOn({ from, to }: NonNullable<Division['arc']>, key: string): boolean {
  return from <= to ? key >= from && key <= to : key >= from || key <= to;
}

/**
 * The few forms of PromQL that the dashboards are made of. A fleet is a scrape job. What only the
 * leader tells is taken as a maximum: while leadership changes, two pods may tell it for a moment.
 */
export const OF_FLEET = 'job=~"$fleet"';
export const OF_MACHINE = `${OF_FLEET},machine=~"$machine"`;
export const OF_POD = `${OF_FLEET},instance=~"$pod"`;

/** Grafana's own: wide enough for four scrapes, whatever is zoomed to. */
const WINDOW = '$__rate_interval';

export interface Rate {
  readonly of: string;
  readonly where: string;
  readonly by?: string;
  readonly window?: string;
}

/** Events a second, summed over whatever `by` does not name. */
export function rate({ of, where, by, window = WINDOW }: Rate): string {
  return `sum${by === undefined ? '' : ` by (${by})`} (rate(${of}{${where}}[${window}]))`;
}

/** How many there were in a window. */
export function increase({ of, where, by, window = WINDOW }: Rate): string {
  return `sum${by === undefined ? '' : ` by (${by})`} (increase(${of}{${where}}[${window}]))`;
}

/** A quantile of a histogram; `of` is its name without a suffix. */
export function quantile(q: number, { of, where, by, window = WINDOW }: Rate): string {
  const labels = by === undefined ? 'le' : `le, ${by}`;
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${of}_bucket{${where}}[${window}])))`;
}

/** What the leader of each fleet says, summed over fleets and over whatever `by` does not name. */
export function leaderSays(of: string, options: { where?: string; by?: string } = {}): string {
  const { where = OF_FLEET, by } = options;
  const kept = by === undefined ? '' : `, ${by}`;
  const outer = by === undefined ? 'sum' : `sum by (${by})`;
  return `${outer} (max by (job${kept}) (${of}{${where}}))`;
}

/** A share, and 0 rather than nothing where there was none of the first. */
export function share(part: string, whole: string): string {
  return `(${part} or ${whole} * 0) / (${whole} > 0)`;
}

/** Ended badly. Cancelled is neither: somebody wanted it so. */
export const FAILED = 'outcome!~"completed|handedOff|cancelled"';
export const COUNTED = 'outcome!="cancelled"';

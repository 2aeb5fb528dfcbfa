/** Durations as people write them, '200ms' or '5m', and the milliseconds they stand for. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`;

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DURATION_MS_MAX = 10 * 365 * UNIT_MS.d;

/** The milliseconds in `duration`; undefined where it is none, negative, or over ten years. */
export function parseDuration(duration: unknown): number | undefined {
  const ms = typeof duration === 'number' ? duration : parseText(duration);
  return ms !== undefined && ms >= 0 && ms <= DURATION_MS_MAX ? ms : undefined;
}

function parseText(duration: unknown): number | undefined {
  if (typeof duration !== 'string') return undefined;
  const match = /^(\d{1,15}(?:\.\d{1,9})?)(ms|s|m|h|d)$/.exec(duration);
  return match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : undefined;
}

export const DURATION_WANTED =
  "a duration: milliseconds as a number, or text such as '200ms', '30s', '5m', '2h', '7d', at most ten years";

/** '1.2 s', '340 ms', '3 min': short enough for a table. Never '60 s' for what rounds to a minute. */
export function showDuration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 59_500) return `${Math.round(ms / 1_000)} s`;
  if (ms < 59.5 * UNIT_MS.m) return `${Math.round(ms / UNIT_MS.m)} min`;
  if (ms < 2 * UNIT_MS.d) return `${(ms / UNIT_MS.h).toFixed(1)} h`;
  return `${Math.round(ms / UNIT_MS.d)} d`;
}

/** Which APIs a fleet shares, where pods call more than whoever leads looks at. */
import type { ReportRow } from './chief.ts';
import { decodeReport } from './wire.ts';

/** Whoever has a place keeps it until another is wanted so many times as much: else places would swap. */
const KEPT_WEIGHT = 2;

/**
 * All that pods tell of, by name; where those are too many, the ones that matter most just now: what is out,
 * what waits and what was refused lately, over all pods. `held` are those that were looked at before.
 */
export function sharedApis(
  reports: readonly ReportRow[],
  countMax: number,
  held: ReadonlySet<string>,
): string[] {
  const apis = new Set<string>();
  for (const { throttles } of reports)
    for (const api of Object.keys(told(throttles))) apis.add(api);
  if (apis.size <= countMax) return [...apis].sort();
  const weights = weightsOf(reports);
  const weigh = (api: string) => (weights.get(api) ?? 0) * (held.has(api) ? KEPT_WEIGHT : 1);
  const ranked = [...apis]
    .map((api) => ({ api, weight: weigh(api), isHeld: held.has(api) }))
    .sort(
      (a, b) =>
        b.weight - a.weight || Number(b.isHeld) - Number(a.isHeld) || (a.api < b.api ? -1 : 1),
    );
  return ranked
    .slice(0, countMax)
    .map(({ api }) => api)
    .sort();
}

function weightsOf(reports: readonly ReportRow[]): Map<string, number> {
  const weights = new Map<string, number>();
  for (const { throttles } of reports) {
    for (const [api, json] of Object.entries(told(throttles))) {
      const report = decodeReport(json);
      if (!report) continue;
      const refused = report.seconds.reduce((all, { throttled }) => all + throttled, 0);
      weights.set(api, (weights.get(api) ?? 0) + report.demand + refused);
    }
  }
  return weights;
}

function told(throttles: unknown): object {
  return typeof throttles === 'object' && throttles !== null ? throttles : {};
}

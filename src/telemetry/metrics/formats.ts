/**
 * The two text formats of metrics, and which of them somebody wants. prom-client writes both, but
 * renames a counter for good once it has written it as OpenMetrics; so each format has a registry, and
 * the second shows what the first holds.
 */
import { type Metric, type OpenMetricsContentType, Registry } from 'prom-client';

const OPEN = 'application/openmetrics-text';

/** By the header of the request; what nobody asked for is the older, which everybody reads. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  const weights = new Map<string, number>();
  for (const part of (accept ?? '').split(',')) {
    const [type = '', ...given] = part.split(';').map((text) => text.trim().toLowerCase());
    const weight = Number(given.find((text) => text.startsWith('q='))?.slice(2) ?? 1);
    const known = weights.get(type) ?? 0;
    weights.set(type, Math.max(known, Number.isFinite(weight) ? weight : 0));
  }
  const open = weights.get(OPEN) ?? 0;
  return open > 0 && open >= (weights.get('text/plain') ?? 0);
}

/** What is in these, as OpenMetrics. */
export function openRegistry(registries: readonly Registry[]): Registry<OpenMetricsContentType> {
  const open = new Registry<OpenMetricsContentType>();
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  for (const registry of registries) {
    for (const { name } of registry.getMetricsAsArray()) {
      open.registerMetric(viewOf(name, registry.getSingleMetric(name)!));
    }
  }
  return open;
}

/** Its name is its family's: what OpenMetrics calls `_total` is the one sample of a counter. */
function viewOf(name: string, metric: Metric): Metric {
  const get = async () => {
    const found = await metric.get();
    const isCounter = String(found.type) === 'counter';
    return { ...found, name: isCounter ? found.name.replace(/_total$/, '') : found.name };
  };
  return { name, get } as unknown as Metric;
}

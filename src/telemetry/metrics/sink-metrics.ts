/** Metrics of the process that sends to an archive: it is no pod, and has none of a pod's. */
import { Registry } from 'prom-client';
import { Counters, showGauge } from './cells.ts';
import { openRegistry, wantsOpenMetrics } from './formats.ts';

export interface SinkMetricsOptions {
  /** Since when the archive may lack something, in milliseconds; undefined before anybody knows. */
  readonly lagMs: () => number | undefined;
}

export class SinkMetrics {
  readonly #registry = new Registry();
  readonly #open: ReturnType<typeof openRegistry>;
  readonly #rows: Counters;
  readonly #events: Counters;
  readonly #failures: Counters;

  constructor({ lagMs }: SinkMetricsOptions) {
    const registry = this.#registry;
    this.#rows = new Counters('fleetq_sink_rows_total', registry);
    this.#events = new Counters('fleetq_sink_events_total', registry);
    this.#failures = new Counters('fleetq_sink_failures_total', registry);
    showGauge('fleetq_sink_lag_seconds', registry, () => {
      const ms = lagMs();
      return ms === undefined ? [] : [{ value: ms / 1_000 }];
    });
    this.#open = openRegistry([registry]);
  }

  sent({ table, rows, events }: { table: string; rows: number; events: number }): void {
    this.#rows.cell(table).value += rows;
    this.#events.cell().value += events;
  }

  failed(code: string): void {
    this.#failures.cell(code).value += 1;
  }

  async text(accept?: string): Promise<{ readonly type: string; readonly text: string }> {
    const registry = wantsOpenMetrics(accept) ? this.#open : this.#registry;
    return { type: registry.contentType, text: await registry.metrics() };
  }
}

/**
 * Counters and histograms whose hot path is an addition. prom-client looks a child up by a text made
 * of its labels at every call, children that were asked for before included: at thirty thousand phases
 * a second that is more than all the rest. So whoever counts keeps a cell, and prom-client gets the
 * figures when somebody asks for them.
 */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { traceIdOf } from '../../ground/index.ts';
import { BATCH_BUCKETS, CATALOGUE, type MetricName, SECONDS_BUCKETS } from './catalogue.ts';

/** So many label sets a metric may have; what comes beyond is counted as `other`. */
const SERIES_MAX = 2_000;

/** The first bucket of what takes longer than 10 ms. */
const SLOW_FROM = 4;

type Labels = Readonly<Record<string, string>>;

class Series<Cell extends { readonly labels: Labels }> {
  readonly #names: readonly string[];
  readonly #make: (labels: Labels) => Cell;
  readonly #cells = new Map<string, Cell>();

  constructor(names: readonly string[], make: (labels: Labels) => Cell) {
    this.#names = names;
    this.#make = make;
    if (names.length === 0) this.cell([]);
  }

  /** To be kept by the caller: to find it takes much longer than to use it. */
  cell(values: readonly string[]): Cell {
    const found = this.#cells.get(values.join('\n'));
    if (found) return found;
    const isFull = this.#cells.size >= SERIES_MAX;
    const fitting = isFull ? this.#names.map(() => 'other') : values;
    const key = fitting.join('\n');
    const cell =
      this.#cells.get(key) ??
      this.#make(Object.fromEntries(this.#names.map((name, at) => [name, fitting[at] ?? ''])));
    this.#cells.set(key, cell);
    return cell;
  }

  all(): IterableIterator<Cell> {
    return this.#cells.values();
  }
}

export class CounterCell {
  readonly labels: Labels;
  value = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }
}

export class Counters {
  readonly #series: Series<CounterCell>;

  /** `renew` is called before its figures are told: for what goes on by itself. */
  constructor(name: MetricName, registry: Registry, renew?: () => void) {
    const { help, labels } = CATALOGUE[name];
    const series = new Series(labels, (own) => new CounterCell(own));
    this.#series = series;
    new Counter({
      name,
      help,
      labelNames: [...labels],
      registers: [registry],
      collect() {
        renew?.();
        this.reset();
        for (const cell of series.all()) this.inc({ ...cell.labels }, cell.value);
      },
    });
  }

  cell(...values: readonly string[]): CounterCell {
    return this.#series.cell(values);
  }
}

interface Exemplar {
  readonly run: string;
  readonly value: number;
  readonly at: number;
}

export class HistogramCell {
  readonly labels: Labels;
  readonly bounds: readonly number[];
  readonly counts: Float64Array;
  readonly exemplars: (Exemplar | undefined)[] = [];
  sum = 0;
  count = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.labels = labels;
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  /** Answers into which bucket it fell. A clock that was set back makes nothing shorter than nothing. */
  observe(given: number): number {
    const value = Math.max(given, 0) || 0;
    const { bounds } = this;
    let at = 0;
    // Nearly everything is short, so that the first bounds decide.
    while (at < bounds.length && value > bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
    this.count++;
    return at;
  }

  /**
   * Whether what has just been observed is to be an example of its bucket. What is slow always is;
   * of the crowd that is not, one in sixteen is as good.
   */
  isExemplary(at: number): boolean {
    return at >= SLOW_FROM || (this.count & 15) === 1;
  }

  /** `run` is an example of what fell into this bucket. */
  exemplify(at: number, value: number, run: string, nowMs: number): void {
    this.exemplars[at] = { run, value, at: nowMs / 1_000 };
  }
}

export class Histograms {
  readonly #series: Series<HistogramCell>;

  constructor(name: MetricName, registry: Registry) {
    const buckets = name === 'fleetq_claim_batch_size' ? BATCH_BUCKETS : SECONDS_BUCKETS;
    const { labels } = CATALOGUE[name];
    this.#series = new Series(labels, (own) => new HistogramCell(own, buckets));
    new CellHistogram(name, registry, buckets, this.#series);
  }

  cell(...values: readonly string[]): HistogramCell {
    return this.#series.cell(values);
  }
}

type Values = Awaited<ReturnType<Histogram['get']>>['values'];

/** prom-client's own, but for where its figures come from. */
class CellHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #series: Series<HistogramCell>;

  constructor(
    name: MetricName,
    registry: Registry,
    buckets: readonly number[],
    series: Series<HistogramCell>,
  ) {
    const { help, labels } = CATALOGUE[name];
    super({
      name,
      help,
      labelNames: [...labels],
      buckets: [...buckets],
      registers: [registry],
    });
    this.#name = name;
    this.#help = help;
    this.#series = series;
  }

  override async get(): ReturnType<Histogram['get']> {
    const values = [...this.#series.all()].flatMap((cell) => valuesOf(this.#name, cell));
    const about = { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum' };
    return { ...about, values: values as Values } as unknown as Awaited<
      ReturnType<Histogram['get']>
    >;
  }

  /** How prom-client asks when it writes text. */
  getForPromString(): ReturnType<Histogram['get']> {
    return this.get();
  }
}

function valuesOf(name: string, cell: HistogramCell): object[] {
  const { labels, bounds, counts, exemplars, sum, count } = cell;
  let total = 0;
  const buckets = [...bounds, '+Inf'].map((le, at) => {
    total += counts[at]!;
    const exemplar = exemplarOf(exemplars[at]);
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: total, exemplar };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

function exemplarOf(exemplar: Exemplar | undefined): object | undefined {
  const trace = exemplar && traceIdOf(exemplar.run);
  if (!exemplar || trace === undefined) return undefined;
  return { labelSet: { trace_id: trace }, value: exemplar.value, timestamp: exemplar.at };
}

export type Shown = readonly { readonly labels?: Labels; readonly value: number }[];

/** What is looked up when somebody asks: nothing is shown where there is nothing to show. */
export function showGauge(name: MetricName, registry: Registry, look: () => Shown): void {
  const { help, labels } = CATALOGUE[name];
  new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect() {
      this.reset();
      // One without labels would show a zero that nobody has measured.
      if (labels.length === 0) this.remove();
      for (const { labels: own = {}, value } of look()) this.set({ ...own }, value);
    },
  });
}

/**
 * Metrics of one process, as scrapers read them: counted from named events, looked up when somebody
 * asks, and never by asking the store: whoever is on call wants them most when that does not answer.
 */
import '../../ground/refuse-old-node.ts';

import { collectDefaultMetrics, Registry } from 'prom-client';
import { version } from '../../config/index.ts';
import { type Clock, hash, systemClock, systemPressure } from '../../ground/index.ts';
import { listen } from '../events.ts';
import { Counters, showGauge } from './cells.ts';
import { DiskLook } from './disk.ts';
import { countEngine } from './engine-metrics.ts';
import { countFleet } from './fleet-metrics.ts';
import { openRegistry, wantsOpenMetrics } from './formats.ts';
import { type Observed, showGauges } from './gauges.ts';
import { countThrottles } from './throttle-metrics.ts';

export type { Observed } from './gauges.ts';

/** The part of a fleet that is looked at; a Fleet is one. */
export interface Source {
  readonly status: Observed;
  readonly machines: readonly {
    readonly name: string;
    readonly version: number;
    readonly fingerprint: string;
  }[];
}

export interface MetricsOptions {
  /** Undefined while it is not open yet. */
  readonly fleet: () => Source | undefined;
  /** What the probe of this pod answers, also before it is open; by default its status decides. */
  readonly whyNotReady?: (() => string | undefined) | undefined;
  readonly clock?: Clock | undefined;
}

export interface MetricsText {
  /** What to answer as `content-type`. */
  readonly type: string;
  readonly text: string;
}

/** Of the process, whoever asks: they are begun once, and nothing ends them. */
let processRegistry: Registry | undefined;

function ofProcess(): Registry {
  if (!processRegistry) {
    processRegistry = new Registry();
    // Every 20 ms, since a look every 10 costs a third of a percent of a core, whatever happens.
    collectDefaultMetrics({ register: processRegistry, eventLoopMonitoringPrecision: 20 });
  }
  return processRegistry;
}

export class Metrics {
  readonly #options: MetricsOptions;
  readonly #registry = new Registry();
  readonly #open: Registry<'application/openmetrics-text; version=1.0.0; charset=utf-8'>;
  readonly #disk: DiskLook;
  readonly #stops: readonly (() => void)[];
  readonly #expect: (machine: string) => void;
  #wantsExemplars = false;
  /** As it was when somebody asked last: one look for all figures. */
  #observed: Observed | undefined;
  #earlyAlarms = 0;
  #known: ReadonlySet<string> = new Set();

  /** Counts from now on. */
  constructor(options: MetricsOptions) {
    this.#options = options;
    const clock = options.clock ?? systemClock;
    const registry = this.#registry;
    const isKnown = (machine: string) => this.#isKnown(machine);
    const dead = new Counters('fleetq_dead_letters_total', registry);
    const ofEngine = countEngine(registry, dead, {
      now: () => clock.now(),
      wantsExemplars: () => this.#wantsExemplars,
    });
    this.#expect = ofEngine.expect;
    this.#stops = [
      ...ofEngine.stops,
      listen('journal.alarm', () => {
        this.#earlyAlarms++;
      }),
      ...countFleet(registry, dead, { monotonicMs: () => clock.monotonicMs(), isKnown }),
      countThrottles(registry, {
        throttles: () => this.#observed?.throttles ?? [],
        isLeader: () => this.#observed?.pod?.isLeader === true,
      }),
    ];
    const pressure = systemPressure();
    showGauges(registry, {
      observed: () => this.#observed,
      earlyAlarms: () => this.#earlyAlarms,
      whyNotReady: options.whyNotReady,
      pressure,
      isKnown,
    });
    this.#disk = new DiskLook(registry);
    this.#showBuild();
    this.#open = openRegistry([registry, ofProcess()]);
  }

  /** `accept` is that header of the request: it decides about the format. */
  async text(accept?: string | undefined): Promise<MetricsText> {
    const fleet = this.#options.fleet();
    this.#observed = fleet?.status;
    for (const { name } of fleet?.machines ?? []) this.#expect(name);
    await this.#lookAtDisk();
    if (wantsOpenMetrics(accept)) {
      this.#wantsExemplars = true;
      return { type: Registry.OPENMETRICS_CONTENT_TYPE, text: await this.#open.metrics() };
    }
    const texts = [await this.#registry.metrics(), await ofProcess().metrics()];
    return { type: Registry.PROMETHEUS_CONTENT_TYPE, text: texts.join('\n') };
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  /** Waited for only the first time, and then not long: a disk that hangs hides nothing else. */
  async #lookAtDisk(): Promise<void> {
    if (!this.#observed) return;
    const looking = this.#disk.look(this.#observed.dataDir);
    if (this.#disk.hasLooked) return;
    const { clock = systemClock } = this.#options;
    await Promise.race([
      looking,
      new Promise<void>((resolve) => {
        clock.after(DISK_MS_MAX, resolve, { idle: true });
      }),
    ]);
  }

  #isKnown(machine: string): boolean {
    if (this.#known.size === 0) {
      this.#known = new Set(this.#options.fleet()?.machines.map(({ name }) => name));
    }
    return this.#known.has(machine);
  }

  #showBuild(): void {
    showGauge('fleetq_build_info', this.#registry, () => {
      const machines = this.#options.fleet()?.machines;
      if (!machines) return [];
      const routes = machines.map((of) => `${of.name}@${of.version} ${of.fingerprint}`).sort();
      const labels = {
        version: version(),
        node: process.version,
        machines: hash(routes.join('\n')).slice(0, 12),
      };
      return [{ labels, value: 1 }];
    });
  }
}

const DISK_MS_MAX = 100;

/** Counts what happens in this process from now on, until `stop`. */
export function openMetrics(options: MetricsOptions): Metrics {
  return new Metrics(options);
}

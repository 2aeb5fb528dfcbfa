/**
 * Many pods, one Postgres, and everything that can go wrong at once; then peace, and a verdict from
 * outside. Real processes, real signals, real crashes of a real server, a proxy on every way to it.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fleetq from '../../src/index.ts';
import { childProgram } from '../support/children.ts';
import { readLedger } from '../support/ledger.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { buildPackage } from './build.ts';
import { Faults } from './faults.ts';
import { Judge } from './judge.ts';
import type { Reason } from './judge-effects.ts';
import { PodHouse } from './pod-house.ts';
import { Producer } from './producer.ts';
import { StoreProxy } from './proxy.ts';
import { type Effect, NO_BOOK, Scribe, SHAPES, shapes } from './shapes.ts';
import type { Doses, Size } from './sizes.ts';
import { Witness } from './witness.ts';

export interface ChaosOptions extends Size {
  readonly seed: number;
  readonly plant?: string | undefined;
  /** Where to keep logs and ledgers; otherwise they are removed. */
  readonly keep?: string | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
}

export interface ChaosReport extends Doses {
  readonly tasks: number;
  /** Of the store's crashes, those by SIGKILL. */
  readonly storeKills: number;
  readonly disksLost: number;
  readonly lost: number;
  readonly doubled: number;
  readonly zombieWrites: number;
  readonly stuck: number;
  readonly violations: number;
  /** Ended because their owners were killed three times over, as documented. */
  readonly crashLoops: number;
  /** Pods that ended by themselves. */
  readonly podDeaths: number;
  /** `work` and `persist` that were done again as they may be, by what kept the first from counting. */
  readonly repeats: Readonly<Record<Reason, number>>;
  readonly effects: number;
  readonly seconds: number;
  readonly drainSeconds: number;
  readonly seed: number;
  /** Doses that were not reached; a run with any proves nothing. */
  readonly missed: readonly string[];
  readonly void: boolean;
  readonly examples: readonly string[];
}

const PROGRESS_MS = 10_000;
const DRAIN_LOOK_MS = 250;
/** A backlog that does not shrink for so long will not. */
const STANDSTILL_MS = 45_000;

export function isGood(report: ChaosReport): boolean {
  const { lost, doubled, zombieWrites, stuck, violations, podDeaths } = report;
  return !report.void && lost + doubled + zombieWrites + stuck + violations + podDeaths === 0;
}

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  childProgram('chaos/worker-child.ts');
  const place = buildPackage(options.plant);
  const directory = options.keep ?? mkdtempSync(join(tmpdir(), 'fleetq-chaos-'));
  mkdirSync(directory, { recursive: true });
  const postgres = await startPostgres(['max_connections=200', 'synchronous_commit=on']);
  if (!postgres.canCrash) throw new Error('the store of a chaos run must be ours to crash');
  try {
    return await new Chaos(options, postgres, directory, join(place, 'dist')).run();
  } finally {
    await postgres.remove();
    rmSync(place, { recursive: true, force: true });
    if (!options.keep) rmSync(directory, { recursive: true, force: true });
  }
}

class Chaos {
  readonly #options: ChaosOptions;
  readonly #postgres: TestPostgres;
  readonly #directory: string;
  readonly #dist: string;
  readonly #machines = shapes(fleetq, new Scribe(NO_BOOK, ''));
  readonly #begunMs = performance.now();

  constructor(options: ChaosOptions, postgres: TestPostgres, directory: string, dist: string) {
    this.#options = options;
    this.#postgres = postgres;
    this.#directory = directory;
    this.#dist = dist;
  }

  async run(): Promise<ChaosReport> {
    const url = await this.#postgres.createDatabase();
    const ownProxy = await this.#proxy();
    const client = await fleetq.createFleet({
      machines: Object.values(this.#machines),
      store: through(url, ownProxy),
      migrates: true,
      isClient: true,
      dataDir: join(this.#directory, 'producer'),
      socket: false,
    });
    const witness = new Witness(url);
    await witness.install();
    const houses = await this.#houses(url);
    const producer = new Producer(client);
    const faults = this.#faults(houses, ownProxy);
    const telling = setInterval(() => this.#tell(producer, faults, witness), PROGRESS_MS);
    let drainSeconds: number;
    try {
      await Promise.all([
        producer.produce(this.#options.tasks, this.#options.seconds),
        faults.rage(),
      ]);
      drainSeconds = await this.#drain(houses, ownProxy, witness);
    } finally {
      clearInterval(telling);
      await Promise.all(houses.map((house) => house.close()));
    }
    const violations = await client.store.violations();
    const judge = await this.#judge(houses, producer, witness);
    for (const { rule, count, examples } of violations) {
      judge.violations.add(...Array.from({ length: count }, () => `${rule}: ${examples.join()}`));
    }
    await client.drain();
    ownProxy.stop();
    return this.#report(judge, faults, houses, drainSeconds);
  }

  async #proxy(): Promise<StoreProxy> {
    const proxy = new StoreProxy({ host: this.#postgres.host, port: this.#postgres.port });
    await proxy.start();
    return proxy;
  }

  /** The last of them takes suspects only, and no fault is aimed at it. */
  async #houses(url: string): Promise<PodHouse[]> {
    const { pods, slots } = this.#options;
    const houses: PodHouse[] = [];
    for (let index = 0; index <= pods; index += 1) {
      const proxy = await this.#proxy();
      const isSuspectsOnly = index === pods;
      const house = new PodHouse({
        name: isSuspectsOnly ? 'suspects' : `pod-${index}`,
        directory: this.#directory,
        dist: this.#dist,
        url: through(url, proxy),
        proxy,
        slots,
        isSuspectsOnly,
      });
      house.start();
      houses.push(house);
    }
    return houses;
  }

  #faults(houses: readonly PodHouse[], ownProxy: StoreProxy): Faults {
    const { seed, doses, seconds, pods } = this.#options;
    return new Faults({
      houses: houses.slice(0, pods),
      ownProxy,
      postgres: this.#postgres,
      random: seededRandom(seed),
      doses,
      seconds,
    });
  }

  /** Heals everything, and waits until all tasks have ended or nothing moves any more. */
  async #drain(
    houses: readonly PodHouse[],
    ownProxy: StoreProxy,
    witness: Witness,
  ): Promise<number> {
    const begunMs = performance.now();
    await this.#postgres.start();
    ownProxy.heal();
    for (const house of houses) house.heal();
    let [least, movedMs] = [Number.POSITIVE_INFINITY, begunMs];
    for (;;) {
      const { unfinished } = await witness.counts(SHAPES);
      if (unfinished < least) [least, movedMs] = [unfinished, performance.now()];
      if (unfinished === 0 || performance.now() - movedMs > STANDSTILL_MS) break;
      await sleep(DRAIN_LOOK_MS);
    }
    return secondsSince(begunMs);
  }

  async #judge(
    houses: readonly PodHouse[],
    { acknowledged }: Producer,
    witness: Witness,
  ): Promise<Judge> {
    const judge = new Judge({
      machines: this.#machines,
      deadAt: await witness.deaths(),
      effects: houses.flatMap(({ ledger }) => readLedger<Effect>(ledger)),
      acknowledged,
    });
    await witness.read(SHAPES, (file) => judge.see(file));
    judge.close();
    return judge;
  }

  #report(
    judge: Judge,
    faults: Faults,
    houses: readonly PodHouse[],
    drainSeconds: number,
  ): ChaosReport {
    const { tasks, doses, seed } = this.#options;
    const { lost, doubled, zombieWrites, stuck, violations, crashLoops } = judge;
    const deaths = houses.flatMap((house) => house.deaths);
    const missed = (Object.keys(doses) as (keyof Doses)[])
      .filter((fault) => faults.counts[fault] < doses[fault])
      .map((fault) => `${fault}: ${faults.counts[fault]} of ${doses[fault]}`);
    return {
      tasks,
      ...faults.counts,
      storeKills: faults.storeKills,
      disksLost: faults.disksLost,
      lost: lost.count,
      doubled: doubled.count,
      zombieWrites: zombieWrites.count,
      stuck: stuck.count,
      violations: violations.count,
      crashLoops: crashLoops.count,
      podDeaths: deaths.length,
      repeats: judge.repeats,
      effects: judge.effectCount,
      seconds: secondsSince(this.#begunMs),
      drainSeconds,
      seed,
      missed,
      void: missed.length > 0,
      examples: [lost, doubled, zombieWrites, stuck, violations, crashLoops]
        .flatMap((tally) => tally.examples)
        .concat(deaths)
        .slice(0, 60),
    };
  }

  #tell(producer: Producer, faults: Faults, witness: Witness): void {
    const { onProgress } = this.#options;
    if (!onProgress) return;
    const counts = Object.entries(faults.counts).map(([name, count]) => `${name} ${count}`);
    const asked = producer.acknowledged.length;
    witness.counts(SHAPES).then(
      ({ unfinished }) =>
        onProgress(
          `${secondsSince(this.#begunMs)} s: ${asked} enqueued, ${unfinished} unfinished, ` +
            counts.join(', '),
        ),
      () => onProgress(`${secondsSince(this.#begunMs)} s: the store is down, ${counts.join(', ')}`),
    );
  }
}

function through(url: string, { port }: StoreProxy): string {
  return Object.assign(new URL(url), { port: String(port) }).href;
}

function secondsSince(ms: number): number {
  return Math.round((performance.now() - ms) / 100) / 10;
}

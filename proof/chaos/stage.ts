/** Everything a run needs before anything goes wrong: ways to the store, pods, those who ask. */
import { join } from 'node:path';
import * as fleetq from '../../src/index.ts';
import { whyNoSmallDisk } from '../../test/journal/small-disk.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { asideShapes } from './aside-shapes.ts';
import type { ChaosStore } from './cluster-store.ts';
import { monotonicMs } from './orders.ts';
import { PodDisk } from './pod-disk.ts';
import { PodHouse } from './pod-house.ts';
import { PodVolume, whyNoVolume } from './pod-volume.ts';
import { Poisoner } from './poisoner.ts';
import { StoreProxy } from './proxy.ts';
import { NO_BOOK, Scribe, shapes } from './shapes.ts';
import type { Fault, Size } from './sizes.ts';
import type { StoreClock } from './store-clock.ts';
import { Storm } from './storm.ts';
import { WrongClock, whyNoWrongClock } from './wrong-clock.ts';

export interface StageOptions extends Size {
  readonly seed: number;
  readonly postgres: ChaosStore;
  readonly storeClock: StoreClock;
  readonly directory: string;
  /** Where the built package is. */
  readonly dist: string;
}

interface Given {
  readonly disk?: PodDisk | undefined;
  readonly volume?: PodVolume | undefined;
  readonly clock?: WrongClock | undefined;
  readonly isSuspectsOnly?: true;
}

/** How many people there are. */
const CLIENT_COUNT = 3;
/** One at a time, as a process for suspects has them: so a poison task takes nobody along. */
const SUSPECT_SLOTS = 1;
/** A disk that nobody removes is gone after so many times the length of the run. */
const LIVES = 4;

/** To be looked at, and not to be run. */
function machinesAt(version: number) {
  const scribe = new Scribe(NO_BOOK, '');
  return {
    ...shapes(fleetq, scribe, version),
    ...asideShapes(fleetq, scribe, undefined, version),
  };
}

export class Stage {
  readonly #options: StageOptions;
  readonly url: string;
  /** The ways of those who ask. */
  readonly ownProxies: StoreProxy[] = [];
  /** The last of them takes suspects only, and no fault is aimed at it. */
  readonly houses: PodHouse[] = [];
  /** On clones of the volumes of houses; each is there for a while. */
  readonly clones: PodHouse[] = [];
  /** Faults that cannot be had here, and why. */
  readonly lacking: string[] = [];
  readonly #stores: fleetq.Store[] = [];
  client!: fleetq.Fleet;
  poisoner!: Poisoner;
  storm!: Storm;

  private constructor(options: StageOptions, url: string) {
    this.#options = options;
    this.url = url;
  }

  static async set(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options, await options.postgres.createDatabase());
    await stage.#openClients();
    return stage;
  }

  /** As the last code has them, which reads what all before it have written. */
  get machines(): ReturnType<typeof machinesAt> {
    return machinesAt(Math.max(...this.houses.map(({ version }) => version)));
  }

  async #openClients(): Promise<void> {
    const { directory, seed } = this.#options;
    const [producing, asking] = [await this.#proxy(), await this.#proxy()];
    this.ownProxies.push(producing, asking);
    this.client = await fleetq.createFleet({
      machines: Object.values(machinesAt(1)),
      store: this.#through(producing),
      migrates: true,
      isClient: true,
      dataDir: join(directory, 'producer'),
      socket: false,
    });
    for (let count = 0; count < CLIENT_COUNT; count += 1) {
      this.#stores.push(await fleetq.openStore(this.#through(asking)));
    }
    this.poisoner = new Poisoner(this.client, this.#foretold);
    this.storm = new Storm(this.#stores, seededRandom(seed + 1));
  }

  get #foretold(): string {
    return join(this.#options.directory, 'foretold.ledger');
  }

  async #proxy(): Promise<StoreProxy> {
    const { host, port } = this.#options.postgres;
    const proxy = new StoreProxy({ host, port }, seededRandom(this.#options.seed));
    await proxy.start();
    return proxy;
  }

  #through({ port }: StoreProxy): string {
    return Object.assign(new URL(this.url), { port: String(port) }).href;
  }

  /** One pod has a disk that can be full, one a volume that can be cloned, every second a clock that can be wrong. */
  async startPods(): Promise<void> {
    const { pods, directory } = this.#options;
    const [noDisk, noVolume, noClock] = [whyNoSmallDisk(), whyNoVolume(), whyNoWrongClock()];
    this.#lack(noDisk, 'fullDisks', 'longFullDisks');
    this.#lack(noVolume, 'clonedVolumes');
    this.#lack(noClock, 'clockJumps', 'storeClockJumps');
    for (let index = 0; index < pods; index += 1) {
      const hasDisk = index === 0 && noDisk === undefined;
      const hasVolume = index === 2 && noVolume === undefined;
      const hasClock = index % 2 === 1 && noClock === undefined;
      await this.#house(`pod-${index}`, {
        disk: hasDisk ? await PodDisk.make(this.#lifeSeconds) : undefined,
        volume: hasVolume ? await PodVolume.make(directory, this.#lifeSeconds) : undefined,
        clock: hasClock ? new WrongClock(join(directory, `pod-${index}.clock`)) : undefined,
      });
    }
    await this.#house('suspects', { isSuspectsOnly: true });
  }

  get #lifeSeconds(): number {
    return this.#options.seconds * LIVES + 600;
  }

  #lack(why: string | undefined, ...faults: readonly Fault[]): void {
    if (why !== undefined) this.lacking.push(...faults.map((fault) => `${fault}: ${why}`));
  }

  async #house(name: string, given: Given): Promise<void> {
    const house = await this.#houseOf(name, given);
    this.houses.push(house);
    house.start();
  }

  /** Another process on a clone of this one's volume; its name tells it apart. */
  async cloneOf(original: PodHouse): Promise<PodHouse> {
    const volume = await original.volume!.clone();
    const house = await this.#houseOf(`${original.name}-clone-${this.clones.length}`, { volume });
    house.version = original.version;
    this.clones.push(house);
    house.start();
    return house;
  }

  get ledgers(): string[] {
    return [...this.houses, ...this.clones].map(({ ledger }) => ledger);
  }

  get deaths(): string[] {
    return [...this.houses, ...this.clones].flatMap(({ deaths }) => deaths);
  }

  async #houseOf(name: string, given: Given): Promise<PodHouse> {
    const { directory, dist, slots } = this.#options;
    const proxy = await this.#proxy();
    return new PodHouse({
      name,
      directory,
      dist,
      url: this.#through(proxy),
      proxy,
      slots: given.isSuspectsOnly ? SUSPECT_SLOTS : slots,
      isSuspectsOnly: given.isSuspectsOnly ?? false,
      foretold: this.#foretold,
      wallAtZeroMs: Date.now() - monotonicMs(),
      disk: given.disk,
      volume: given.volume,
      clock: given.clock,
      wasForetold: (...end) => this.poisoner.wasForetold(...end),
    });
  }

  /** Undoes whatever the faults have left. */
  async heal(): Promise<void> {
    await this.#options.postgres.start();
    for (const proxy of this.ownProxies) {
      proxy.disarm();
      proxy.heal();
    }
    for (const house of this.houses) house.heal();
  }

  async stopPods(): Promise<void> {
    await Promise.all([...this.houses, ...this.clones].map((house) => house.close()));
  }

  async clear(): Promise<void> {
    await this.client.drain();
    for (const store of this.#stores) await store.close();
    for (const proxy of this.ownProxies) proxy.stop();
  }
}

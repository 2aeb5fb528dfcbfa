/**
 * Many pods, one Postgres, and everything that can go wrong at once; then peace, and a verdict from
 * outside. Real processes, real signals, real crashes of a real server, a proxy on every way to it.
 */
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childProgram } from '../../test/support/children.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import type { Acknowledgement, CancelCall, Effect, StoreCall } from '../history/evidence.ts';
import { ASIDE, POISON, STORMED } from './aside-shapes.ts';
import { keepBroken } from './broken.ts';
import { buildPackage } from './build.ts';
import { type ChaosStore, ClusterStore } from './cluster-store.ts';
import { Faults } from './faults.ts';
import { Judge } from './judge.ts';
import { linesOf } from './judge-calls.ts';
import { Snapshots } from './judge-snapshots.ts';
import { processesWith } from './left-behind.ts';
import { killInPeace } from './peace.ts';
import { Producer } from './producer.ts';
import { type ChaosReport, reportOf } from './report.ts';
import { SHAPES } from './shapes.ts';
import type { Size } from './sizes.ts';
import { Stage, type StageOptions } from './stage.ts';
import { StoreClock } from './store-clock.ts';
import { judgeStorm } from './storm-verdict.ts';
import { type TaskFile, Witness } from './witness.ts';

export { type ChaosReport, isGood } from './report.ts';

export interface ChaosOptions extends Size {
  readonly seed: number;
  readonly plant?: string | undefined;
  /** Where to keep logs and ledgers; otherwise they are removed, but for those of broken tasks. */
  readonly keep?: string | undefined;
  readonly onProgress?: ((line: string) => void) | undefined;
}

const ALL = [...SHAPES, ...ASIDE];
/** When what was committed decides what somebody had to see. */
const SERVER = ['max_connections=200', 'synchronous_commit=on', 'track_commit_timestamp=on'];
const PROGRESS_MS = 10_000;
const DRAIN_LOOK_MS = 250;
/** A backlog that does not shrink for so long will not. */
const STANDSTILL_MS = 45_000;

export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  childProgram('proof/chaos/worker-child.ts');
  const place = await buildPackage(options.plant);
  const directory = options.keep ?? mkdtempSync(join(tmpdir(), 'fleetq-chaos-'));
  mkdirSync(directory, { recursive: true });
  const clear = () => {
    removeTree(place);
    if (!options.keep) removeTree(directory);
  };
  process.once('exit', clear);
  const storeClock = new StoreClock();
  const postgres: ChaosStore =
    options.doses.failovers > 0
      ? await ClusterStore.start(SERVER)
      : await startPostgres(SERVER, storeClock.env);
  if (!postgres.canCrash) throw new Error('the store of a chaos run must be ours to crash');
  let report: Omit<ChaosReport, 'leftBehind'>;
  try {
    const dist = join(place, 'dist');
    report = await new Chaos(options, { ...options, postgres, storeClock, directory, dist }).run();
  } finally {
    await postgres.remove();
    storeClock.remove();
    clear();
    process.off('exit', clear);
  }
  const left = processesWith([`"log":"${directory}/`, `port=${postgres.port} `]);
  const examples = [...report.examples, ...left.map((words) => `left behind: ${words}`)];
  return { ...report, leftBehind: left.length, examples };
}

class Chaos {
  readonly #options: ChaosOptions;
  readonly #stageOptions: StageOptions;
  readonly #begunMs = performance.now();

  constructor(options: ChaosOptions, stageOptions: StageOptions) {
    this.#options = options;
    this.#stageOptions = stageOptions;
  }

  async run(): Promise<Omit<ChaosReport, 'leftBehind'>> {
    const { tasks, seconds, doses, seed } = this.#options;
    const stage = await Stage.set(this.#stageOptions);
    const witness = new Witness(stage.url);
    await witness.install();
    await stage.startPods();
    const producer = new Producer(stage.client);
    const faults = this.#faults(stage);
    const snapshots = new Snapshots({
      url: stage.url,
      machines: SHAPES,
      progress: () => ({ acknowledged: producer.acknowledged.length, sent: producer.sent }),
    });
    snapshots.start();
    const telling = setInterval(() => this.#tell(producer, faults, witness), PROGRESS_MS);
    let drainSeconds: number;
    try {
      let isOver = false;
      const hurting = faults
        .rage()
        .then(() => killInPeace(stage, witness, snapshots))
        .finally(() => {
          isOver = true;
        });
      await Promise.all([producer.produce(tasks, seconds, () => isOver), hurting]);
      drainSeconds = await this.#drain(stage, witness);
    } finally {
      clearInterval(telling);
      await snapshots.stop();
      await stage.stopPods();
    }
    const judge = await this.#judge(stage, producer, witness, snapshots);
    await this.#judgeAside(judge, stage, witness);
    judge.violations.add(...faults.wrongs);
    const spent = { seconds: secondsSince(this.#begunMs), drainSeconds };
    const report = reportOf({ tasks: producer.sent, seed, doses, stage, faults, judge, ...spent });
    const broken = await keepBroken({
      examples: report.examples,
      directory: () => this.#options.keep ?? mkdtempSync(join(tmpdir(), 'fleetq-chaos-broken-')),
      ledgers: stage.ledgers,
      pods: await witness.pods(),
      read: (each) => witness.read(ALL, each),
    });
    await stage.clear();
    return { ...report, broken };
  }

  #faults(stage: Stage): Faults {
    const { houses, ownProxies, poisoner, storm, url } = stage;
    const { seed, doses, seconds, pods } = this.#options;
    return new Faults({
      houses: houses.slice(0, pods),
      allHouses: houses,
      ownProxies,
      postgres: this.#stageOptions.postgres,
      storeClock: this.#stageOptions.storeClock,
      url,
      random: seededRandom(seed),
      doses,
      seconds,
      poisoner,
      storm,
      clone: (house) => stage.cloneOf(house),
    });
  }

  /** Heals everything, and waits until all tasks have ended or nothing moves any more. */
  async #drain(stage: Stage, witness: Witness): Promise<number> {
    const begunMs = performance.now();
    await stage.heal();
    await stage.storm.goHome();
    let [least, movedMs] = [Number.POSITIVE_INFINITY, begunMs];
    for (;;) {
      const { unfinished } = await witness.counts(ALL);
      if (unfinished < least) [least, movedMs] = [unfinished, performance.now()];
      if (unfinished === 0 || performance.now() - movedMs > STANDSTILL_MS) break;
      await sleep(DRAIN_LOOK_MS);
    }
    return secondsSince(begunMs);
  }

  async #judge(
    stage: Stage,
    producer: Producer,
    witness: Witness,
    { taken }: Snapshots,
  ): Promise<Judge> {
    const { ledgers } = stage;
    const judge = new Judge({
      machines: stage.machines,
      pods: await witness.pods(),
      effects: linesOf<Effect>(ledgers),
      calls: callsOf(stage, ledgers),
      acknowledged: [...producer.acknowledged, ...acknowledgedOf(stage)],
      cancels: cancelsOf(stage),
      mayFail: STORMED,
      snapshots: taken,
    });
    await witness.read(ALL, (file) => judge.see(file));
    judge.close();
    for (const { rule, count, examples } of await stage.client.store.violations()) {
      judge.violations.add(...Array.from({ length: count }, () => `${rule}: ${examples.join()}`));
    }
    return judge;
  }

  /** What only those know who gave the poison, and who asked. */
  async #judgeAside(judge: Judge, { poisoner, storm }: Stage, witness: Witness): Promise<void> {
    const read = async (machines: readonly string[]) => {
      const files: TaskFile[] = [];
      await witness.read(machines, (file) => files.push(file));
      return files;
    };
    judge.violations.add(...poisoner.faultsOf(await read([POISON]), await witness.pods()));
    judge.violations.add(
      ...judgeStorm(await read(STORMED), storm, this.#stageOptions.storeClock.setAt),
    );
  }

  #tell(producer: Producer, faults: Faults, witness: Witness): void {
    const { onProgress } = this.#options;
    if (!onProgress) return;
    const counts = Object.entries(faults.counts).map(([name, count]) => `${name} ${count}`);
    const asked = producer.acknowledged.length;
    witness.counts(ALL).then(
      ({ unfinished }) =>
        onProgress(
          `${secondsSince(this.#begunMs)} s: ${asked} enqueued, ${unfinished} unfinished, ` +
            counts.join(', '),
        ),
      () => onProgress(`${secondsSince(this.#begunMs)} s: the store is down, ${counts.join(', ')}`),
    );
  }
}

/** Without tasks that people have changed: of their calls the pods know nothing. */
function* callsOf({ storm }: Stage, ledgers: readonly string[]): Iterable<StoreCall> {
  const stormed = new Set<string>(storm.tasks.map(({ task }) => task));
  for (const call of linesOf<StoreCall>(ledgers.map((ledger) => `${ledger}.calls`))) {
    yield { ...call, tasks: call.tasks.filter(({ task }) => !stormed.has(task)) };
  }
}

function acknowledgedOf({ storm, poisoner }: Stage): Acknowledgement[] {
  return [...storm.acknowledged, ...poisoner.acknowledged];
}

function cancelsOf({ storm }: Stage): CancelCall[] {
  return storm.calls.flatMap(({ what, task, answer }) =>
    what !== 'cancel' || typeof answer === 'number' || answer === 'no'
      ? []
      : { task, answer: answer === 'away' ? undefined : answer },
  );
}

function secondsSince(ms: number): number {
  return Math.round((performance.now() - ms) / 100) / 10;
}

/**
 * Rolls a fleet of real processes from one directory of code to the other and back, again and again, with
 * runs in flight, and judges afterwards what became of each.
 *
 *   v1 v1 v1 v1 v1 v1 ─→ v2 v2 v1 v1 v1 v1 ─→ … ─→ v2 v2 v2 v2 v2 v2 ─→ … back ─→ … ─→ both, until all end
 *        some wait for v2                             some wait for v1
 */
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunId, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { readLedger } from '../../test/support/ledger.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { type Fault, judgeRun, type RollLine } from './roll-judge.ts';
import { RollLoad } from './roll-load.ts';
import { type Code, RollPod } from './roll-pod.ts';
import { type RollFigures, RollTally } from './roll-report.ts';
import { ALL_ROUTES, hasRoute, ROUTES, type Route } from './roll-rules.ts';
import { RollTables } from './roll-tables.ts';

export interface RollOptions {
  /** Where `bin.js` of the package is, and where the directories of code are. */
  readonly dist: string;
  readonly codes: string;
  readonly pods: number;
  /** How often there and back. */
  readonly times: number;
  readonly inFlight: number;
  readonly slots: number;
  readonly restMsMax: number;
  readonly seed: number;
  /** After so long it is not rolled there again, and what was done is judged. */
  readonly minutesMax?: number | undefined;
  readonly onProgress: (line: string) => void;
}

/** How many are replaced at a time. */
const AT_ONCE = 2;
/** How long all of them stay on one code, so that what it does not have waits. */
const DWELL_MS = 1_500;
const END_MS_MAX = 240_000;
const LOOK_MS = 300;

export async function runRoll(options: RollOptions): Promise<RollFigures> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-deploys-'));
  const postgres = await startPostgres(['max_connections=300', 'synchronous_commit=on']);
  const pods: RollPod[] = [];
  try {
    const url = await postgres.createDatabase();
    const base = { clock: systemClock, random: systemRandom };
    const store = await openStore(url, { ...base, migrates: true });
    const tables = await RollTables.open(url);
    const { dist, codes, slots } = options;
    for (let index = 0; index < options.pods; index += 1) {
      // As a StatefulSet has them, and as a Deployment does.
      const keepsDisk = index % 2 === 0;
      const name = `pod-${index + 1}`;
      pods.push(new RollPod({ name, dist, codes, url, directory, keepsDisk, slots }));
    }
    const random = seededRandom(options.seed);
    const { inFlight, restMsMax } = options;
    const load = new RollLoad({ store, tables, random, inFlight, restMsMax });
    const figures = await new Roll(options, pods, load, tables, directory).run();
    await tables.close();
    await store.close();
    return figures;
  } finally {
    await Promise.all(pods.map((pod) => pod.kill()));
    await postgres.remove();
    removeTree(directory);
  }
}

class Roll {
  readonly #options: RollOptions;
  readonly #pods: readonly RollPod[];
  readonly #load: RollLoad;
  readonly #tables: RollTables;
  readonly #directory: string;
  readonly #blocked = new Set<RunId>();
  #rolls = 0;

  constructor(
    options: RollOptions,
    pods: readonly RollPod[],
    load: RollLoad,
    tables: RollTables,
    directory: string,
  ) {
    this.#options = options;
    this.#pods = pods;
    this.#load = load;
    this.#tables = tables;
    this.#directory = directory;
  }

  async run(): Promise<RollFigures> {
    const begunMs = performance.now();
    await this.#startAll('v1');
    this.#load.offer(ROUTES.v1, []);
    await this.#load.begin();
    const { times, minutesMax = Number.POSITIVE_INFINITY } = this.#options;
    const isLate = () => performance.now() - begunMs > minutesMax * 60_000;
    for (let time = 0; time < times && !isLate(); time += 1) {
      await this.#roll('v2');
      this.#load.offer(ROUTES.v2, lackedBy('v2'));
      await this.#roll('v1');
      this.#load.offer(ROUTES.v1, lackedBy('v1'));
    }
    const rolledMs = performance.now() - begunMs;
    await this.#load.end();
    await this.#finish();
    for (const pod of this.#pods) await pod.drain();
    return this.#judge(rolledMs);
  }

  async #startAll(code: Code): Promise<void> {
    await Promise.all(this.#pods.map((pod) => pod.start(code)));
  }

  async #roll(code: Code): Promise<void> {
    for (let from = 0; from < this.#pods.length; from += AT_ONCE) {
      await Promise.all(this.#pods.slice(from, from + AT_ONCE).map((pod) => pod.replace(code)));
    }
    await sleep(DWELL_MS);
    const waiting = await this.#tables.underWay(lackedBy(code));
    for (const id of waiting) this.#blocked.add(id);
    this.#rolls += 1;
    const [unfinished, all] = [await this.#tables.unfinished(), this.#load.acknowledged.size];
    this.#options.onProgress(
      `roll ${this.#rolls} of ${2 * this.#options.times}, to ${code}: ${unfinished} in flight of ` +
        `${all}, ${waiting.length} of versions that ${code} has not`,
    );
  }

  /** Both codes are there: nothing has to wait any longer. */
  async #finish(): Promise<void> {
    const half = this.#pods.slice(0, Math.ceil(this.#pods.length / 2));
    await Promise.all(half.map((pod) => pod.replace('v2')));
    const giveUpAt = performance.now() + END_MS_MAX;
    while ((await this.#tables.unfinished()) > 0 && performance.now() < giveUpAt) {
      await sleep(LOOK_MS);
    }
  }

  async #judge(rolledMs: number): Promise<RollFigures> {
    const tally = new RollTally();
    const lines = this.#ledgers();
    const unseen = new Map(this.#load.acknowledged);
    await this.#tables.read((task) => {
      const asked = unseen.get(task.id);
      unseen.delete(task.id);
      const fate = judgeRun(asked ?? task, task, lines.get(task.id) ?? []);
      tally.add(task, fate, this.#blocked.has(task.id));
    });
    for (const id of unseen.keys()) {
      tally.fault({ rule: 'lost', what: `${id} was acknowledged, and is gone` });
    }
    const drainsMs = this.#pods.flatMap((pod) => pod.drainsMs);
    for (const what of this.#pods.flatMap((pod) => pod.faults)) {
      tally.fault({ rule: 'drain', what } satisfies Fault);
    }
    const { leastInFlight } = this.#load;
    return tally.figures({
      rolls: this.#rolls,
      pods: this.#pods.length,
      seconds: Math.round(rolledMs / 1_000),
      leastInFlight: Number.isFinite(leastInFlight) ? leastInFlight : 0,
      drainsMs,
    });
  }

  /** By task: what handlers have done, whichever process they were in. */
  #ledgers(): Map<string, RollLine[]> {
    const byTask = new Map<string, RollLine[]>();
    const place = join(this.#directory, 'ledgers');
    for (const file of readdirSync(place)) {
      for (const line of readLedger<RollLine>(join(place, file))) {
        const before = byTask.get(line.task);
        if (before) before.push(line);
        else byTask.set(line.task, [line]);
      }
    }
    return byTask;
  }
}

function lackedBy(code: Code): Route[] {
  return ALL_ROUTES.filter((route) => !hasRoute(code, route));
}

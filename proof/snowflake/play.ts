/**
 * Pods of their own processes on an emulated account, by the real driver: they are killed, their answers
 * are lost after the commit, tokens expire, locks are crowded and reads are old. Then peace, and the
 * history is held against the rules.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { defineMachine, handoff } from '../../src/index.ts';
import { openStore, type Store } from '../../src/store/index.ts';
import type { TableKind } from '../../src/store/snowflake/migrate.ts';
import type { NewTask } from '../../src/store/tasks.ts';
import { type EmulatedSnowflake, startSnowflake } from '../../test/emulator/snowflake/index.ts';
import { addressOf } from '../../test/store/snowflake-harness.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { below, seededRandom } from '../../test/support/seeded-random.ts';
import { linesOf } from '../chaos/judge-calls.ts';
import { Snapshots } from '../chaos/judge-snapshots.ts';
import { NO_BOOK, Scribe, SHAPES, shapeOf, shapes } from '../chaos/shapes.ts';
import { Witness } from '../chaos/witness.ts';
import { HistoryChecker } from '../history/checker.ts';
import type { Acknowledgement, Effect } from '../history/evidence.ts';
import { Pods } from './pods.ts';
import { addViews, viewsUrl } from './views.ts';

const SERVER = ['fsync=off', 'max_connections=300', 'track_commit_timestamp=on'];
const HEARTBEAT_MS = 2_000;
const SILENCE_MS = 12_000;
/** What a machine with more processes than processors, and lost answers, may add to that. */
const LIMITS = { silenceMs: SILENCE_MS, heartbeatMs: HEARTBEAT_MS, boundMs: 90_000 };
const BATCH = 100;
const LOOK_MS = 250;
const AGAIN_MS = 50;
/** A backlog that does not shrink for so long will not. */
const STANDSTILL_MS = 300_000;

/** Pods that end by themselves again and again have something to say. */
const DEATHS_MAX = 20;

export interface PlayOptions {
  readonly kind: TableKind;
  readonly tasks: number;
  readonly pods: number;
  readonly kills: number;
  /** Of the statements that change rows, how many are carried out and not answered. */
  readonly doubtShare: number;
  readonly seed: number;
  readonly onProgress?: (line: string) => void;
}

export interface PlayReport {
  readonly kind: TableKind;
  readonly tasks: number;
  readonly completed: number;
  readonly lost: number;
  /** Effects, persists among them, that were done twice where they may not be. */
  readonly doubled: number;
  readonly zombieWrites: number;
  readonly stuck: number;
  readonly violations: number;
  readonly kills: number;
  readonly deaths: number;
  /** Answers that were lost after the commit. */
  readonly doubts: number;
  /** Tasks that changed hands and ended all the same. */
  readonly recovered: number;
  readonly repeats: Readonly<Record<string, number>>;
  readonly statements: number;
  readonly seconds: number;
  readonly examples: readonly string[];
  readonly isGood: boolean;
}

export async function playSnowflake(options: PlayOptions): Promise<PlayReport> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-snowflake-'));
  const postgres = await startPostgres(SERVER);
  const account = await startSnowflake({ kind: options.kind, postgres });
  const store = await openStore(addressOf(account), { migrates: true });
  try {
    return await new Play(options, account, store, directory).run();
  } finally {
    await store.close();
    await account.stop();
    await postgres.remove();
    removeTree(directory);
  }
}

class Play {
  readonly #options: PlayOptions;
  readonly #account: EmulatedSnowflake;
  readonly #store: Store;
  readonly #directory: string;
  readonly #acknowledged: Acknowledgement[] = [];
  readonly #begunMs = performance.now();
  #sent = 0;

  constructor(options: PlayOptions, account: EmulatedSnowflake, store: Store, directory: string) {
    this.#options = options;
    this.#account = account;
    this.#store = store;
    this.#directory = directory;
  }

  async run(): Promise<PlayReport> {
    const { url } = this.#account;
    await new Witness(url).install();
    await addViews(url);
    const witness = new Witness(viewsUrl(url));
    const progress = () => ({ acknowledged: this.#acknowledged.length, sent: this.#sent });
    const snapshots = new Snapshots({ url: viewsUrl(url), machines: SHAPES, progress });
    snapshots.start();
    const times = { heartbeatMs: HEARTBEAT_MS, silenceMs: SILENCE_MS };
    const of = { count: this.#options.pods, store: addressOf(this.#account), ...times };
    const pods = new Pods({ ...of, directory: this.#directory });
    try {
      this.#trouble();
      await Promise.all([this.#enqueue(), this.#endAll(witness, pods)]);
    } finally {
      this.#account.chaos.calm();
      await snapshots.stop();
      await pods.end();
    }
    return this.#judge(witness, pods, snapshots);
  }

  #trouble(): void {
    const { chaos } = this.#account;
    const random = seededRandom(this.#options.seed);
    chaos.random = () => random.fraction();
    chaos.latencyMs = [0, 5];
    // The driver gives up at once, and nobody can say whether anything has happened.
    chaos.dropAnswers = { share: this.#options.doubtShare, how: '400' };
    chaos.expireTokens = { share: 0.005 };
    chaos.staleReadsMs = 100;
    if (this.#options.kind === 'standard') chaos.waiterStorm = { share: 0.02 };
  }

  /** Until each was acknowledged: under its key it is one task, however often it is sent. */
  async #enqueue(): Promise<void> {
    const mint = runIdMint(systemClock, systemRandom);
    const { tasks: count } = this.#options;
    while (this.#sent < count) {
      const from = this.#sent;
      this.#sent = Math.min(count, from + BATCH);
      const tasks = Array.from({ length: this.#sent - from }, (_, place) =>
        taskOf(mint(), from + place),
      );
      const answers = await persistently(() => this.#store.enqueue(tasks));
      for (const [place, { id }] of answers.entries()) {
        const shape = shapeOf(from + place);
        this.#acknowledged.push({ subject: `s${from + place}`, shape, task: id });
      }
    }
  }

  /** Kills spread over the work; what is left after the last of them ends in peace. */
  async #endAll(witness: Witness, pods: Pods): Promise<void> {
    const { tasks, kills } = this.#options;
    const random = seededRandom(this.#options.seed + 1);
    let [least, movedMs, toldMs] = [Number.POSITIVE_INFINITY, performance.now(), 0];
    for (;;) {
      const { unfinished, all } = await witness.counts(SHAPES);
      const left = unfinished + tasks - all;
      const nowMs = performance.now();
      // What is put in counts as well: on a busy machine that alone takes minutes.
      const open = left + tasks - all;
      if (open < least) [least, movedMs] = [open, nowMs];
      if (left === 0 || nowMs - movedMs > STANDSTILL_MS) return;
      if (pods.deaths.length > DEATHS_MAX) throw new Error(`pods die: ${pods.deaths.at(-1)}`);
      const share = (tasks - left) / tasks;
      if (pods.kills < kills && share * (kills + 1) > pods.kills) {
        pods.kill(below(random, this.#options.pods));
      }
      if (nowMs - toldMs > 10_000) {
        toldMs = nowMs;
        const { total, unanswered } = this.#account.statements;
        this.#options.onProgress?.(
          `${Math.round((nowMs - this.#begunMs) / 1_000)} s: ${left} left, ${pods.kills} kills, ` +
            `${total} statements, ${unanswered} not answered`,
        );
      }
      await sleep(LOOK_MS);
    }
  }

  async #judge(witness: Witness, pods: Pods, { taken }: Snapshots): Promise<PlayReport> {
    const { kind, tasks } = this.#options;
    const checker = new HistoryChecker({
      machines: shapes({ defineMachine, handoff }, new Scribe(NO_BOOK, 'nobody')),
      pods: await witness.pods(),
      effects: linesOf<Effect>(pods.ledgers),
      acknowledged: this.#acknowledged,
      snapshots: taken,
      limits: LIMITS,
    });
    let completed = 0;
    await witness.read(SHAPES, (file) => {
      if (file.row.status === 'completed') completed += 1;
      checker.see(file);
    });
    checker.close();
    const broken = await this.#store.violations();
    const { lost, doubled, zombieWrites, stuck, violations } = checker.tallies;
    violations.add(...broken.map(({ rule, examples }) => `${rule}: ${examples.join()}`));
    const all = [lost, doubled, zombieWrites, stuck, violations];
    const { total: statements, unanswered: doubts } = this.#account.statements;
    return {
      ...{ kind, tasks, completed, lost: lost.count, doubled: doubled.count },
      ...{ zombieWrites: zombieWrites.count, stuck: stuck.count, violations: violations.count },
      ...{ kills: pods.kills, deaths: pods.deaths.length, doubts, recovered: checker.recovered },
      ...{ repeats: checker.repeats, statements },
      seconds: Math.round((performance.now() - this.#begunMs) / 100) / 10,
      examples: [...pods.deaths, ...all.flatMap(({ examples }) => examples)].slice(0, 20),
      isGood: completed === tasks && all.every(({ count }) => count === 0),
    };
  }
}

function taskOf(id: NewTask['id'], index: number): NewTask {
  const subject = `s${index}`;
  return {
    ...{ id, machine: shapeOf(index), version: 1, queue: 'default', priority: 0, due: undefined },
    ...{ payload: JSON.stringify({ subject }), key: subject, keyMs: 604_800_000 },
    ...{ retriesMax: undefined, deadlineMs: undefined, traceParent: undefined },
  };
}

async function persistently<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt >= 200) throw error;
      await sleep(AGAIN_MS);
    }
  }
}

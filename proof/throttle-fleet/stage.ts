/**
 * Real pods that share nothing but a Postgres, against two APIs on loopback whose capacity is known and which
 * count: of one the limit is declared, and it would take far more; the other refuses what does not fit.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore } from '../../src/store/index.ts';
import { FakeApi } from '../../test/support/fake-api.ts';
import { startPostgres, type TestPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';

export interface StageOptions {
  readonly heartbeatMs: number;
  readonly silentMs: number;
  readonly cap: number;
  readonly latencyMs: number;
  /** Calls that each pod would make at once, of each API. */
  readonly callers: number;
}

const READY_MS_MAX = 300_000;
const SHARED_MS_MAX = 240_000;
/** How often what is out is looked at. */
const LOOK_MS = 100;
/** More than so many pods ever open: one that finds none left is a pod without a store. */
const CONNECTIONS = 'max_connections=500';
const CHILD = new URL('./child.mjs', import.meta.url);

export class Stage {
  readonly #options: StageOptions;
  readonly #dir = mkdtempSync(join(tmpdir(), 'fleetq-throttle-'));
  readonly #postgres: TestPostgres;
  readonly #url: string;
  /** Would take anything; how much it may be asked is declared. */
  readonly declared: FakeApi;
  /** Refuses what does not fit. */
  readonly learned: FakeApi;
  readonly pods: { readonly child: ChildProcess; readonly id: string }[] = [];
  #count = 0;

  private constructor(
    options: StageOptions,
    postgres: TestPostgres,
    url: string,
    apis: readonly [FakeApi, FakeApi],
  ) {
    this.#options = options;
    this.#postgres = postgres;
    this.#url = url;
    [this.declared, this.learned] = apis;
  }

  static async open(options: StageOptions): Promise<Stage> {
    const { cap, latencyMs } = options;
    const postgres = await startPostgres([CONNECTIONS]);
    const url = await postgres.createDatabase();
    const ports = { clock: systemClock, random: systemRandom };
    await (await openStore(url, { ...ports, migrates: true })).close();
    const wide = await FakeApi.start({ kind: 'inflight', capacity: 100_000, latencyMs });
    const narrow = await FakeApi.start({ kind: 'inflight', capacity: cap, latencyMs });
    return new Stage(options, postgres, url, [wide, narrow]);
  }

  /** All at once; resolves when all of them call. */
  async startPods(count: number): Promise<void> {
    const { heartbeatMs, silentMs, cap, callers } = this.#options;
    const apis = [
      {
        name: 'declared',
        url: this.declared.url,
        options: { limits: { inFlight: cap } },
      },
      { name: 'learned', url: this.learned.url, options: { adaptive: true } },
    ];
    const starting = Array.from({ length: count }, async () => {
      const name = `pod-${++this.#count}`;
      const told = { store: this.#url, dataDir: join(this.#dir, name), name, apis, callers };
      const times = { heartbeat: heartbeatMs, silence: silentMs };
      const child = fork(CHILD, [JSON.stringify({ ...told, ...times })], {
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        // Not what this process was started with: a compiler in each of them keeps a small host busy for long.
        execArgv: [],
      });
      const id = await readiness(child);
      this.pods.push({ child, id });
    });
    await Promise.all(starting);
  }

  /** The pod that leads, for all that the others know. */
  async leader(): Promise<number> {
    const { leader } = await askedHow(this.pods[0]!.child);
    return Math.max(
      0,
      this.pods.findIndex(({ id }) => id === leader),
    );
  }

  /**
   * Resolves, with how long that took, when the shares of all pods are the whole limit: each has then been
   * counted, and nothing of what the dead had is missing. The most that each has had since, and not all at one
   * moment: on a slow host some are late with a heartbeat at any time, and have half meanwhile.
   */
  async untilShared(): Promise<number> {
    const begunMs = performance.now();
    let shares = this.pods.map(() => 0);
    for (;;) {
      const now = await Promise.all(this.pods.map(({ child }) => shareOf(child)));
      shares = shares.map((share, index) => Math.max(share, now[index]!));
      const sum = shares.reduce((all, share) => all + share, 0);
      const tookMs = performance.now() - begunMs;
      if (sum >= this.#options.cap) return Math.round(tookMs);
      if (tookMs > SHARED_MS_MAX) throw new Error(`pods share ${shares}, not ${this.#options.cap}`);
      await sleep(50);
    }
  }

  kill(index: number): void {
    const [pod] = this.pods.splice(index, 1);
    pod!.child.kill('SIGKILL');
  }

  /** So many at once at most, of each API, from now until `ms` have passed. */
  async watch(ms: number): Promise<Seen> {
    const { declared, learned } = this;
    declared.inFlightMax = 0;
    const before = { ...counts(learned), declared: declared.answered };
    const begunMs = performance.now();
    let [peak, outSum, looks] = [0, 0, 0];
    let last = { asked: learned.asked, ms: begunMs };
    while (performance.now() - begunMs < ms) {
      await sleep(Math.min(LOOK_MS, Math.max(1, ms - (performance.now() - begunMs))));
      outSum += declared.inFlight;
      looks++;
      const nowMs = performance.now();
      if (nowMs - last.ms < 1_000) continue;
      peak = Math.max(peak, ((learned.asked - last.asked) * 1_000) / (nowMs - last.ms));
      last = { asked: learned.asked, ms: nowMs };
    }
    const seconds = (performance.now() - begunMs) / 1_000;
    const { cap, latencyMs } = this.#options;
    const perSecond = (cap * 1_000) / latencyMs;
    const after = counts(learned);
    const asked = Math.max(1, after.asked - before.asked);
    return {
      outMost: declared.inFlightMax,
      out: outSum / looks / cap,
      declaredShare: (declared.answered - before.declared) / seconds / perSecond,
      goodput: (after.answered - before.answered) / seconds / perSecond,
      refused: (after.refused - before.refused) / asked,
      peak: peak / perSecond,
    };
  }

  async withoutStore(ms: number): Promise<Seen> {
    await this.#postgres.crash();
    const seen = await this.watch(ms);
    await this.#postgres.start();
    return seen;
  }

  async close(): Promise<void> {
    for (const { child } of this.pods.splice(0)) child.kill('SIGKILL');
    await Promise.all([this.declared.stop(), this.learned.stop()]);
    await this.#postgres.remove();
    removeTree(this.#dir);
  }
}

export interface Seen {
  /** The most calls at once that the API with a declared limit has seen. */
  readonly outMost: number;
  /** What was out of it at a time, on average, as a share of the limit: whatever a call takes on this host. */
  readonly out: number;
  /** What it answered, as a share of what the limit allows. */
  readonly declaredShare: number;
  /** Of what the other can take. */
  readonly goodput: number;
  readonly refused: number;
  /** The most calls in a second that it was asked, over what it can take. */
  readonly peak: number;
}

function counts({ asked, answered, refused }: FakeApi) {
  return { asked, answered, refused };
}

interface Told {
  readonly kind: string;
  readonly leader: string;
  readonly found: readonly { readonly limit: number }[];
}

function askedHow(child: ChildProcess): Promise<Told> {
  return new Promise((resolve) => {
    const hear = (message: Told) => {
      if (message.kind !== 'snapshots') return;
      child.off('message', hear);
      resolve(message);
    };
    child.on('message', hear);
    child.send('how is it');
  });
}

/** Of the API whose limit is declared. */
async function shareOf(child: ChildProcess): Promise<number> {
  return (await askedHow(child)).found[0]!.limit;
}

function readiness(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('a pod did not start')), READY_MS_MAX);
    child.once('exit', (code) => reject(new Error(`a pod ended with ${code}`)));
    child.once('message', (message: { pod: string }) => {
      clearTimeout(late);
      child.removeAllListeners('exit');
      resolve(message.pod);
    });
  });
}

/**
 * What the crash table is put to: a Postgres of its own, pods that keep watch, pods that die where
 * they are told, one that finishes what they left; and what must hold of it all afterwards.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect } from 'vitest';
import { type RunId, runIdMint, systemClock, systemRandom } from '../../src/ground/index.ts';
import { openStore, type Store, type TaskRow } from '../../src/store/index.ts';
import { newTask } from '../../test/store/factories.ts';
import { startChild } from '../../test/support/children.ts';
import { runOn, startPostgres, type TestPostgres } from '../../test/support/postgres.ts';
import { removeTree } from '../../test/support/remove-tree.ts';
import { buildPackage } from '../chaos/build.ts';
import type { Orders } from './hooks.ts';

const PROGRAM = 'proof/crash-points/pod-child.ts';
const MIGRATOR = 'proof/crash-points/migrate-child.ts';
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Generous: processes of a machine that is busy with other things take long to start. */
const CHILD_MS_MAX = 180_000;
const WAIT_MS_MAX = 180_000;
const base = { clock: systemClock, random: systemRandom };
const mint = runIdMint(systemClock, systemRandom);

export type PodOrders = Partial<Omit<Orders, 'ledger'>>;

/** One process, what it has said so far, and how it ends. */
export class PodProcess {
  readonly child: ChildProcess;
  said = '';
  #failed = '';
  readonly #ended: Promise<unknown>;

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdin?.end();
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.said += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#failed += text;
    });
    this.#ended = once(child, 'close');
  }

  /** Resolves when it has said something like this. */
  async says(pattern: RegExp, msMax = CHILD_MS_MAX): Promise<string> {
    const giveUpAt = performance.now() + msMax;
    for (;;) {
      const found = pattern.exec(this.said);
      if (found) return found[1] ?? found[0];
      const isOver = this.child.exitCode !== null || this.child.signalCode !== null;
      if (isOver || performance.now() > giveUpAt) throw new Error(this.#complaint(String(pattern)));
      await sleep(10);
    }
  }

  /** It must die by its own hand, where it was told to; anything else is void, and a failure. */
  async strikes(): Promise<string> {
    await this.#end();
    expect(this.child.signalCode, this.#complaint('to be killed')).toBe('SIGKILL');
    expect(this.said, 'void: it died elsewhere').toMatch(/struck |dying at /);
    return this.said;
  }

  /** It must end by itself and well. */
  async finishes(): Promise<void> {
    await this.#end();
    expect(this.child.exitCode, this.#complaint('to end well')).toBe(0);
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.child.kill(signal);
    await this.#ended;
  }

  async #end(): Promise<void> {
    const timer = setTimeout(() => this.child.kill('SIGKILL'), CHILD_MS_MAX);
    await this.#ended;
    clearTimeout(timer);
  }

  #complaint(wanted: string): string {
    return `wanted ${wanted}; it said: ${this.said} ${this.#failed.slice(-2_000)}`;
  }
}

/** One database, its own ledger, and the processes on it. */
export class Ground {
  readonly url: string;
  readonly store: Store;
  readonly ledger: string;
  readonly #dist: string;
  readonly #place: string;
  readonly #pods = new Set<PodProcess>();
  #closed: Promise<void> | undefined;

  constructor(url: string, store: Store, dist: string, place: string) {
    this.url = url;
    this.store = store;
    this.ledger = join(place, 'ledger');
    this.#dist = dist;
    this.#place = place;
  }

  newDisk(): string {
    return join(mkdtempSync(join(this.#place, 'disk-')), 'data');
  }

  start(orders: PodOrders, env?: NodeJS.ProcessEnv): PodProcess {
    const all: Orders = {
      dist: this.#dist,
      url: this.url,
      ledger: this.ledger,
      dataDir: orders.dataDir ?? this.newDisk(),
      name: 'pod',
      archiveMs: 100,
      outputBytes: 0,
      workMs: 0,
      ...orders,
    };
    return this.#watch(new PodProcess(startChild(PROGRAM, all, env)));
  }

  /** Brings the tables to what this package wants. */
  migrate(dist: string): PodProcess {
    return this.#watch(new PodProcess(startChild(MIGRATOR, { dist, url: this.url })));
  }

  #watch(pod: PodProcess): PodProcess {
    this.#pods.add(pod);
    return pod;
  }

  /** The package of a later day, with these migrations after its own. */
  newerPackage(migrations: Readonly<Record<string, string>>): string {
    const next = mkdtempSync(`${dirname(this.#dist)}/next-`);
    cpSync(this.#dist, join(next, 'dist'), { recursive: true });
    cpSync(join(ROOT, 'migrations'), join(next, 'migrations'), { recursive: true });
    for (const [name, sql] of Object.entries(migrations)) {
      writeFileSync(join(next, 'migrations', 'postgres', name), sql);
    }
    return join(next, 'dist');
  }

  /** Finishes whatever there is of this machine, on this disk. */
  async finish(machine: string, dataDir = this.newDisk(), more: PodOrders = {}): Promise<void> {
    const finishing = this.start({ machine, dataDir, isFinisher: true, ...more }).finishes();
    await finishing.catch(async (error) => {
      console.log(`what is left of ${machine}:`, await this.rows(machine), await this.store.pods());
      throw error;
    });
  }

  async enqueue(machine: string, count = 1): Promise<RunId[]> {
    const payload = JSON.stringify({ subject: 'apple' });
    const tasks = Array.from({ length: count }, () => newTask({ id: mint(), machine, payload }));
    return (await this.store.enqueue(tasks)).map(({ id }) => id);
  }

  async rows(machine: string): Promise<TaskRow[]> {
    return this.store.list({ machine, countMax: 1_000 });
  }

  async until(what: string, isSo: () => Promise<boolean>, msMax = WAIT_MS_MAX): Promise<void> {
    const giveUpAt = performance.now() + msMax;
    while (!(await isSo())) {
      if (performance.now() > giveUpAt) throw new Error(`in vain: ${what}`);
      await sleep(25);
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await Promise.all(
      [...this.#pods]
        .filter(({ child }) => child.exitCode === null && child.signalCode === null)
        .map((pod) => pod.kill()),
    );
    await this.store.close();
  }
}

/** Call once at the top of a test file. */
export function useCrashRig() {
  const place = mkdtempSync(join(tmpdir(), 'fleetq-crash-points-'));
  const grounds: Ground[] = [];
  let server: TestPostgres;
  let dist: string;
  let template: string;
  beforeAll(async () => {
    dist = await buildPackage(undefined);
    server = await startPostgres(['max_connections=300', 'synchronous_commit=on']);
    template = await server.createDatabase();
    await (await openStore(template, { ...base, migrates: true })).close();
  }, 120_000);
  afterAll(async () => {
    for (const ground of grounds) await ground.close();
    await server?.remove();
    removeTree(place);
    if (dist) removeTree(dist);
  }, 240_000);
  return {
    /** Fresh tables. */
    async newGround(): Promise<Ground> {
      const url = await server.createDatabase();
      const name = new URL(url).pathname.slice(1);
      const from = new URL(template).pathname.slice(1);
      const admin = Object.assign(new URL(url), { pathname: '/postgres' }).href;
      await runOn(admin, `drop database ${name}`);
      await runOn(admin, `create database ${name} template ${from}`);
      const store = await openStore(url, base);
      const ground = new Ground(url, store, join(dist, 'dist'), mkdtempSync(join(place, 'g-')));
      grounds.push(ground);
      return ground;
    },
  };
}

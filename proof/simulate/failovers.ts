/**
 * A standby that lagged behind takes over: the tables are as they were some commits ago, under another
 * timeline, and whatever was under way at the server before is answered by nobody. Pods find out by their
 * next heartbeat, and write again what they had been told (I23).
 *
 *   standby's last commit ──── lost ────▶ the primary dies ── away ──▶ the standby answers
 */
import type { MemoryTables } from '../../src/store/memory/tables.ts';
import type { Auditor } from './auditor.ts';
import type { Cluster } from './cluster.ts';
import type { World } from './world.ts';

const COUNT_MAX = 6;
/** How far a standby may be behind. */
const LAG_MS_MAX = 1_500;
/** Until another server answers; in half of all cases it is there at once, before anybody has noticed. */
const AWAY_MS_MAX = 1_200;

export class Failovers {
  readonly #world: World;
  readonly #auditor: Auditor;
  readonly #cluster: Cluster;

  constructor(world: World, auditor: Auditor, cluster: Cluster, stormMs: number) {
    this.#world = world;
    this.#auditor = auditor;
    this.#cluster = cluster;
    const count = 1 + Math.floor(world.within(0, COUNT_MAX));
    for (let index = 0; index < count; index++) {
      const share = stormMs / count;
      // No standby has more than the server that was there when it began to lag.
      const lagMs = world.within(0, Math.min(LAG_MS_MAX, share));
      const atMs = share * index + world.within(lagMs, share);
      world.schedule.at(atMs - lagMs, () => this.#begin(lagMs));
    }
  }

  /** From now on the standby gets nothing more. */
  #begin(lagMs: number): void {
    const { tables, schedule, nowMs } = this.#world;
    const restore = copyOf(tables);
    schedule.at(nowMs + lagMs, () => {
      this.#world.say('store', `dies, and its standby is ${lagMs.toFixed(0)} ms behind`);
      this.#world.count('failovers');
      const before = new Map([...tables.tasks].map(([id, task]) => [id, JSON.stringify(task)]));
      restore();
      tables.timeline = `${Number(tables.timeline) + 1}`;
      const isLost = (id: string) => JSON.stringify(tables.tasks.get(id)) !== before.get(id);
      this.#auditor.rewound(new Set([...before.keys()].filter(isLost)));
      this.#away();
    });
  }

  #away(): void {
    const { weather } = this.#cluster;
    const awayMs = this.#world.within(-AWAY_MS_MAX, AWAY_MS_MAX);
    if (weather.isCut || awayMs <= 0) return;
    weather.isCut = true;
    this.#cluster.later(awayMs, () => {
      weather.isCut = false;
    });
  }
}

/** Rows are changed in place, all but segments: what is answered puts them back. */
function copyOf(tables: MemoryTables): () => void {
  const { pods, tasks, events, registry, audit, terms, throttles } = tables;
  const all: readonly Map<string, object>[] = [pods, tasks, registry, audit, terms, throttles];
  const kept = [...all, events as Map<string, object>].map(
    (rows) => [rows, [...rows].map(([key, row]) => [key, { ...row }] as const)] as const,
  );
  return () => {
    for (const [rows, copy] of kept) {
      rows.clear();
      for (const [key, row] of copy) rows.set(key, row);
    }
  };
}

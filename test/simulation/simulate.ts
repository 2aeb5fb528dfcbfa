/**
 * One seed, from the first pod to the judgement: a fleet works through its tasks in a storm of faults,
 * everything is healed, and what is left has to end. The same seed gives the same trace.
 */
import { violations } from '../../src/store/memory/rules.ts';
import { isEnded } from '../../src/store/memory/tables.ts';
import { below } from '../support/seeded-random.ts';
import { Auditor } from './auditor.ts';
import { Client } from './client.ts';
import { Cluster } from './cluster.ts';
import { judge } from './judge.ts';
import { Ledger } from './ledger.ts';
import type { Mutant } from './mutants.ts';
import type { Process } from './process.ts';
import { enter, type Outside } from './shapes.ts';
import { followTurns } from './sim-pod.ts';
import { World } from './world.ts';

export interface SeedReport {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly trace: string;
  readonly virtualMs: number;
  readonly tasks: number;
  readonly pods: number;
  readonly events: number;
  readonly counts: Readonly<Record<string, number>>;
}

export interface SeedOptions {
  /** Fewer tasks and a shorter storm, for those who have little time. */
  readonly isSmall?: boolean | undefined;
  readonly mutant?: Mutant | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
}

const HEARTBEAT_MS = 500;
const SILENT_MS = 3_000;
/** After this everything that was left has had time to be found, swept, claimed and ended. */
const CALM_MS_MAX = 240_000;
const QUIET_MS = 2_000;

export async function simulate(seed: number, options: SeedOptions = {}): Promise<SeedReport> {
  const world = new World({ seed, ...options });
  const { schedule } = world;
  const outside: Outside = {
    here: () => schedule.current as Process,
    published: new Map(),
    postponed: new Set(),
  };
  enter(outside);
  followTurns(schedule);
  const auditor = new Auditor(world);
  const ledger = new Ledger(world, auditor);
  const podCount = 3 + below(world.random, 7);
  const taskCount = 50 + Math.floor(world.random.fraction() ** (options.isSmall ? 9 : 3) * 150);
  const stormMs = world.within(10_000, 30_000) * (options.isSmall ? 0.5 : 1);
  const cluster = new Cluster(world, auditor, ledger, {
    podCount,
    slots: 3 + below(world.random, 20),
    times: {
      heartbeatMs: HEARTBEAT_MS,
      silentMs: SILENT_MS,
      archiveMs: Math.floor(world.within(100, 1_500)),
      idlePollMs: 1_000,
    },
  });
  const client = new Client(world, auditor, cluster.weather);
  const heard = (error: unknown) =>
    world.violate('unhandled', `${(error as Error)?.stack ?? String(error)}`);
  process.on('unhandledRejection', heard);
  try {
    client.begin(taskCount, stormMs * 0.8);
    cluster.storm(stormMs);
    const isBroken = () => world.violations.length > 0;
    await schedule.run(stormMs, isBroken);
    cluster.heal();
    const isOver = () => client.isContent && [...world.tables.tasks.values()].every(isEnded);
    if (!isBroken()) {
      await schedule.run(schedule.nowMs + CALM_MS_MAX, () => isBroken() || isOver());
      await schedule.run(schedule.nowMs + QUIET_MS, isBroken);
    }
    if (!isBroken()) judge(world, auditor, client, outside);
    if (!isBroken()) cluster.judge();
  } finally {
    process.off('unhandledRejection', heard);
  }
  cluster.end();
  world.say('world', `ends with ${violations(world.tables).length} rules broken`);
  return {
    seed,
    violations: world.violations,
    trace: world.traceHash(),
    virtualMs: schedule.nowMs,
    tasks: world.tables.tasks.size,
    pods: podCount,
    events: schedule.eventCount,
    counts: Object.fromEntries([...world.counts].sort()),
  };
}

/**
 * One seed, from the first pod to the judgement: a fleet works through its tasks in a storm of faults,
 * everything is healed, and what is left has to end. The same seed gives the same trace.
 */
import { violations } from '../../src/store/memory/rules.ts';
import { isEnded, type MemoryTables, type TaskRecord } from '../../src/store/memory/tables.ts';
import { listen } from '../../src/telemetry/events.ts';
import { below } from '../../test/support/seeded-random.ts';
import { Auditor } from './auditor.ts';
import { Client } from './client.ts';
import { Cluster } from './cluster.ts';
import { Decider } from './decider.ts';
import { Failovers } from './failovers.ts';
import { Gates } from './gates.ts';
import { Islands } from './islands.ts';
import { type Hosts, judge, waitsInVain } from './judge.ts';
import { type Traits, traitsOf } from './kept-seeds.ts';
import { LastingFault } from './lasting.ts';
import { Ledger } from './ledger.ts';
import type { Mutant } from './mutants.ts';
import { People } from './people.ts';
import type { Process } from './process.ts';
import { enter, type Outside } from './shapes.ts';
import { followTurns } from './sim-pod.ts';
import { StoreClock } from './store-clock.ts';
import { World } from './world.ts';

export interface SeedReport {
  readonly seed: number;
  readonly isSmall: boolean;
  readonly violations: readonly string[];
  readonly trace: string;
  readonly virtualMs: number;
  readonly tasks: number;
  readonly pods: number;
  readonly events: number;
  /** What it cost; all else comes out the same each time. */
  readonly cpuMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

export interface SeedOptions {
  /** What it has; by its number where nothing is said. */
  readonly traits?: Traits;
  /** Fewer tasks and a shorter storm, for those who have little time. */
  readonly isSmall?: boolean | undefined;
  readonly mutant?: Mutant | undefined;
  /** Lines of the stacks of errors, for whoever looks for one; they change the trace. */
  readonly stackCount?: number | undefined;
  readonly onLine?: ((line: string) => void) | undefined;
  /** Sees the tables after every event; whoever looks changes nothing. */
  readonly onLook?: ((tables: MemoryTables) => void) | undefined;
}

const HEARTBEAT_MS = 500;
const SILENT_MS = 3_000;
/** After this everything that was left has had time to be found, swept, claimed and ended. */
const CALM_MS_MAX = 240_000;
const QUIET_MS = 2_000;
/** For so long tasks come in after the storm, where something is to be seen there. */
const CALM_TASKS_MS = 12_000;
const LET_GO_MS = 4 * SILENT_MS;

export async function simulate(seed: number, options: SeedOptions = {}): Promise<SeedReport> {
  const cpu = process.cpuUsage();
  const traits = options.traits ?? traitsOf(seed);
  const world = new World({ seed, ...options, ...traits });
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
  const most = options.isSmall ? 50 : 300;
  const taskCount = (options.isSmall ? 30 : 200) + below(world.random, most + 1);
  const stormMs = world.within(10_000, 30_000) * (options.isSmall ? 0.5 : 1);
  const slots = 3 + below(world.random, 20);
  const cluster = new Cluster(world, auditor, ledger, {
    podCount,
    ...traits,
    slots,
    times: {
      heartbeatMs: HEARTBEAT_MS,
      silentMs: SILENT_MS,
      archiveMs: Math.floor(world.within(100, 1_500)),
      idlePollMs: 1_000,
    },
  });
  const client = new Client(world, auditor, cluster.weather, traits);
  const heard = (error: unknown) =>
    world.violate('unhandled', `${(error as Error)?.stack ?? String(error)}`);
  process.on('unhandledRejection', heard);
  const unheard = auditor.rewinds.listen();
  const deaf = listen('run.superseded', () => world.count('superseded runs'));
  // Stacks are part of what failures record: without them a seed has one trace on every machine.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = options.stackCount ?? 0;
  try {
    client.begin(taskCount, traits.hasLasting ? stormMs + CALM_TASKS_MS : stormMs * 0.8);
    cluster.storm(stormMs);
    const storeClock = world.setsStoreClock ? new StoreClock(world, stormMs) : undefined;
    const people = traits.hasPeople
      ? new People(world, auditor, cluster.weather, stormMs)
      : undefined;
    const gates = traits.hasFlow ? new Gates(world, auditor, cluster.weather, stormMs) : undefined;
    if (traits.hasFailovers) new Failovers(world, auditor, cluster, stormMs);
    if (traits.hasIslands) new Islands(world, cluster, stormMs);
    const lasting = traits.hasLasting
      ? new LastingFault(world, cluster, stormMs, slots)
      : undefined;
    const decider = traits.hasFollowers ? new Decider(world, auditor, cluster.weather) : undefined;
    const isBroken = () => {
      options.onLook?.(world.tables);
      return world.violations.length > 0;
    };
    await schedule.run(stormMs, isBroken);
    storeClock?.heal();
    cluster.heal();
    lasting?.healed();
    people?.heal();
    gates?.heal();
    decider?.heal(() => !client.isContent);
    const isOver = () => client.isContent && !unended(world, cluster) && cluster.isIdle;
    const isOverElsewhere = () => client.isContent && !unended(world, lasting!.hosts);
    if (lasting && !isBroken()) {
      await schedule.run(schedule.nowMs + CALM_MS_MAX, () => isBroken() || isOverElsewhere());
      const left = isBroken() ? undefined : unended(world, lasting.hosts);
      if (left)
        world.violate('I44', `${left.taskId} is ${left.status}, kept from its end by one pod`);
      lasting.end();
    }
    if (!isBroken()) {
      await schedule.run(schedule.nowMs + CALM_MS_MAX, () => isBroken() || isOver());
      await schedule.run(schedule.nowMs + QUIET_MS, isBroken);
      // A start that waited for a disk to work again may have come only then.
      if (!isBroken() && !isOver()) {
        await schedule.run(schedule.nowMs + CALM_MS_MAX, () => isBroken() || isOver());
        await schedule.run(schedule.nowMs + QUIET_MS, isBroken);
      }
      // What was lost with a server, or taken from a pod, is in nobody's way: pods find out when they do.
      if (traits.hasFailovers || lasting) {
        await schedule.run(schedule.nowMs + LET_GO_MS, () => isBroken() || cluster.hasLetGo);
      }
      // One that was replaced at the very end has yet to come, and to look through its journal.
      const isBack = () => isBroken() || cluster.isReady;
      if (!isBack()) {
        await schedule.run(schedule.nowMs + CALM_MS_MAX, isBack);
        await schedule.run(schedule.nowMs + QUIET_MS, isBroken);
      }
    }
    auditor.lookAtAll('the storm');
    people?.look();
    if (!isBroken()) judge(world, auditor, client, outside, ledger, cluster);
    if (!isBroken()) cluster.judge();
  } finally {
    process.off('unhandledRejection', heard);
    deaf();
    unheard();
    Error.stackTraceLimit = stackTraceLimit;
  }
  cluster.end();
  world.say('world', `ends with ${violations(world.tables).length} rules broken`);
  return {
    seed,
    isSmall: options.isSmall === true,
    violations: world.violations,
    trace: world.traceHash(),
    virtualMs: schedule.nowMs,
    tasks: world.tables.tasks.size,
    pods: podCount,
    events: schedule.eventCount,
    cpuMs: cpuMsSince(cpu),
    counts: Object.fromEntries([...world.counts].sort()),
  };
}

/** But for what waits for a host that does not come back. */
function unended({ tables }: World, hosts: Hosts): TaskRecord | undefined {
  for (const task of tables.tasks.values()) {
    if (!isEnded(task) && !waitsInVain(tables, task, hosts)) return task;
  }
  return undefined;
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

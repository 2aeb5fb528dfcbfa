/**
 * What a campaign came across, summed up over its seeds. One in which a kind of fault, or of recovery,
 * never came up has shown nothing about it: it is void, and says what was missing.
 */
import { LASTING_KINDS } from './lasting.ts';
import type { SeedReport } from './simulate.ts';

/** Each has to come up at least once in a campaign. */
export const WANTED_KINDS = [
  'kills',
  'deaths in commits',
  'torn writes',
  'failed syncs',
  'syncs that took after all',
  'pauses',
  'partitions',
  'bad lines',
  'late lines',
  'outages',
  'slow stores',
  'calls cut',
  'calls refused',
  'calls inDoubt',
  'calls late',
  'small claims',
  'clock jumps',
  'store clock jumps',
  'wall clocks drifting',
  'monotonic clocks drifting',
  'full disks',
  'lost disks',
  'lost tails',
  'lost power',
  'drains',
  'clones',
  'mass restarts',
  'forced leaders',
  'redrives',
  'reschedules',
  'discards',
  'drains asked for',
  'sweeps by outsiders',
  'failovers',
  'judged rewinds',
  'cancels',
  'local runs',
  'sweeps',
  'adoptions',
  'take-overs',
  'probes',
  'effects',
  'stalls',
  'judged claims',
  'judged delays',
  'judged waits',
  'judged waits of several owners',
  'judged cancels',
  'judged pauses',
  'pauses at rescues',
  'judged fences',
  'judged: counts agree',
  'judged: an interruption is an attempt',
  'judged: a cancel holds',
  'judged: attempts are bounded',
  'sweeps with crashes',
  'sweeps without crashes',
  'phases repeated',
  'deploys',
  'advances',
  'upgrades',
  'begun by a newer version',
  'waits for a version',
  'judged versions',
  'judged deadlines',
  'judged ends by deadline',
  'deadlines in phases',
  'deadlines in waits',
  'deadlines between phases',
  'deadlines of several owners',
  'queue.limit',
  'queue.pause',
  'queue.resume',
  'machine.pause',
  'machine.resume',
  'judged gates',
  'full queues',
  'turns given',
  'turns kept',
  'judged turns',
  'followers let go after completed',
  'followers let go after failed',
  'followers let go after cancelled',
  'followers ended',
  'judged followers',
  'islands',
  'phases on an island',
  'superseded runs',
  ...LASTING_KINDS,
] as const;

export interface Failure {
  readonly seed: number;
  readonly isSmall: boolean;
  readonly violation: string;
}

export class Tally {
  seeds = 0;
  tasks = 0;
  virtualMs = 0;
  cpuMs = 0;
  readonly failures: Failure[] = [];
  readonly counts: Record<string, number> = {};

  add({ seed, isSmall, tasks, virtualMs, counts, violations, cpuMs }: SeedReport): void {
    this.seeds += 1;
    this.tasks += tasks;
    this.virtualMs += virtualMs;
    this.cpuMs += cpuMs;
    for (const [name, count] of Object.entries(counts)) {
      this.counts[name] = (this.counts[name] ?? 0) + count;
    }
    if (violations[0]) this.failures.push({ seed, isSmall, violation: violations[0] });
  }

  missing(): string[] {
    return WANTED_KINDS.filter((kind) => !this.counts[kind]);
  }

  /** The sums, as they are printed and kept. */
  figures() {
    const round = (value: number, by: number) => Math.round(value * by) / by;
    const cpuSeconds = this.cpuMs / 1_000;
    return {
      seeds: this.seeds,
      violations: this.failures.length,
      failedSeeds: this.failures.map(({ seed }) => seed),
      missing: this.missing(),
      tasks: this.tasks,
      phases: this.counts['phases'] ?? 0,
      virtualHours: round(this.virtualMs / 3_600_000, 100),
      cpuSeconds: round(cpuSeconds, 10),
      cpuMsPerSeed: round(this.cpuMs / Math.max(1, this.seeds), 1),
      tasksPerCpuSecond: round(this.tasks / Math.max(0.001, cpuSeconds), 1),
      counts: Object.fromEntries(Object.entries(this.counts).sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }
}

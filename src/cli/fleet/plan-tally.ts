/** Runs with the same fate, counted, with some of their ids; bounded however many runs there are. */
import type { FateWord } from '../../fleet/index.ts';
import type { PlannedRun } from './plan-runs.ts';

export interface PlanGroup {
  readonly machine: string;
  readonly version: number;
  readonly fate: FateWord;
  readonly to?: number | undefined;
  /** The phase that they may be inside, which is done again where the deploy cuts it off. */
  readonly repeats?: string | undefined;
  readonly isTried?: boolean | undefined;
  /** What they come to if the phase that they are in is done first, where that is another fate. */
  readonly ifDone?: FateWord | undefined;
  readonly reason?: string | undefined;
  readonly count: number;
  readonly examples: readonly string[];
}

export type FateCounts = Readonly<Record<FateWord, number>>;

const EXAMPLES_MAX = 3;
/** A reason may hold what an author's error says of one run: beyond so many they are one group. */
const GROUPS_MAX = 500;
const OTHER_REASONS = 'other reasons';
const WORST_FIRST: readonly FateWord[] = [
  ...(['fails', 'blocked', 'upgrades', 'advances', 'continues', 'ends'] as const),
];

type Growing = { -readonly [K in keyof PlanGroup]: PlanGroup[K] } & { examples: string[] };

export class PlanTally {
  readonly #groups = new Map<string, Growing>();
  readonly #counts: Record<FateWord, number> = {
    continues: 0,
    advances: 0,
    upgrades: 0,
    blocked: 0,
    ends: 0,
    fails: 0,
  };
  /** In hand right now: what they have recorded since the last archive is not known here. */
  inHand = 0;
  repeats = 0;
  untried = 0;
  /** Would be blocked if the phase that they are in is done before they are taken over. */
  mayBlock = 0;

  add(run: PlannedRun): void {
    this.#counts[run.fate] += 1;
    if (run.status === 'claimed') this.inHand += 1;
    if (run.repeats !== undefined) this.repeats += 1;
    if (run.isTried === false) this.untried += 1;
    if (run.fate !== 'blocked' && run.ifDone?.fate === 'blocked') this.mayBlock += 1;
    const group = this.#groupOf(run);
    group.count += 1;
    if (group.examples.length < EXAMPLES_MAX) group.examples.push(run.run);
  }

  #groupOf(run: PlannedRun): Growing {
    const isFull = this.#groups.size >= GROUPS_MAX;
    const given = run.reason ?? run.ifDone?.reason;
    const reason = given !== undefined && isFull ? OTHER_REASONS : given;
    const { machine, version, fate, to, repeats, isTried } = run;
    const ifDone = run.ifDone?.fate === fate ? undefined : run.ifDone?.fate;
    const key = [machine, version, fate, to, repeats, isTried, ifDone, reason].join('\n');
    const known = this.#groups.get(key);
    if (known) return known;
    const of = { machine, version, fate, to, repeats, isTried, ifDone, reason };
    const group: Growing = { ...of, count: 0, examples: [] };
    this.#groups.set(key, group);
    return group;
  }

  get counts(): FateCounts {
    return this.#counts;
  }
  get runs(): number {
    return Object.values(this.#counts).reduce((sum, count) => sum + count, 0);
  }
  /** Whether anything would not go on. */
  get isBad(): boolean {
    return this.#counts.blocked + this.#counts.fails + this.mayBlock > 0;
  }

  /** By machine and version, the worst fate first, then the most frequent. */
  get groups(): PlanGroup[] {
    const rank = (group: PlanGroup) => WORST_FIRST.indexOf(group.fate);
    return [...this.#groups.values()].sort(
      (a, b) =>
        a.machine.localeCompare(b.machine, 'en') ||
        a.version - b.version ||
        rank(a) - rank(b) ||
        b.count - a.count,
    );
  }
}

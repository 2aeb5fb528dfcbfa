/**
 * Holds all that a run of a fleet has left behind against the rules: a task at a time, so that neither
 * time nor memory grow by more than the tasks do. It reads the product's records and writes nothing.
 *
 *   const checker = new HistoryChecker(evidence);
 *   for (const file of files) checker.see(file);
 *   checker.close();
 *   checker.rules   // what each looked at, and how often it was broken
 */
import { type Machine, planOf } from '../../src/machine/index.ts';
import { Calm } from './calm.ts';
import type { PodLife, TaskFile } from './evidence.ts';
import { type Evidence, EvidenceBook } from './evidence-book.ts';
import { livesOf } from './lives.ts';
import type { Around, Finding, Limits, Rule, RuleReport, Weight } from './rule.ts';
import { RULES } from './rules.ts';
import { type Reason, repeatsOf } from './rules-effects.ts';
import { Tally } from './tally.ts';

export interface CheckerOptions extends Evidence {
  readonly machines: Readonly<Record<string, Machine<never>>>;
  readonly pods: readonly PodLife[];
  readonly limits: Limits;
  readonly mayFail?: Iterable<string> | undefined;
  /** Of how many tasks the claim register is searched. */
  readonly sampleCount?: number | undefined;
}

const SAMPLE_COUNT = 1_000;
/** A rule that gives up on more than this, and on more than one, has not been asked. */
const UNDECIDED_SHARE_MAX = 0.02;

export function isUndecided({ looked, undecided }: RuleReport): boolean {
  return undecided > Math.max(1, (looked + undecided) * UNDECIDED_SHARE_MAX);
}

export class HistoryChecker {
  readonly tallies: Readonly<Record<Weight, Tally>> = {
    lost: new Tally(),
    doubled: new Tally(),
    zombieWrites: new Tally(),
    stuck: new Tally(),
    violations: new Tally(),
  };
  /** Killed three times by the faults, and ended for that, as documented. */
  readonly crashLoops = new Tally();
  /** `work` and `persist` that were done again as they may be. */
  readonly repeats: Record<Reason, number> = { unrecorded: 0, unarchived: 0, late: 0 };
  /** Tasks that changed hands, and ended all the same. */
  recovered = 0;
  /** Times that a run went on under newer code. */
  advanced = 0;
  readonly #options: CheckerOptions;
  readonly #book: EvidenceBook;
  readonly #around: Omit<Around, 'acknowledged' | 'cancels' | 'changes' | 'calls'>;
  readonly #counts = new Map<Rule, { looked: number; broken: number; undecided: number }>(
    RULES.map((rule) => [rule, { looked: 0, broken: 0, undecided: 0 }]),
  );

  constructor(options: CheckerOptions) {
    this.#options = options;
    this.#book = new EvidenceBook(options, options.sampleCount ?? SAMPLE_COUNT);
    this.#around = {
      pods: new Map(options.pods.map((pod) => [pod.pod, pod])),
      limits: options.limits,
      calm: new Calm(this.#book.snapshots),
      wasSkewed: (pod, from, to) => this.#book.wasSkewed(pod, from, to),
      mayFail: new Set(options.mayFail ?? []),
    };
  }

  get effectCount(): number {
    return this.#book.effectCount;
  }

  /** One task that the store knows of. */
  see(file: TaskFile): void {
    const { row, changes } = file;
    const book = this.#book;
    book.see(row);
    const plan = planOf(this.#options.machines[row.machine]!)!;
    const around: Around = {
      ...this.#around,
      acknowledged: book.acknowledgementsOf(row.task),
      cancels: book.cancelsOf(row.task),
      changes,
      calls: book.isSampled(row.task) ? book.callsOf(row.task) : undefined,
    };
    for (const life of livesOf(file, plan, book.effectsOf(row.task))) {
      for (const rule of RULES) if (rule.ofLife) this.#count(rule, rule.ofLife(life, around));
      for (const reason of repeatsOf(life)) this.repeats[reason] += 1;
      const stops = life.history?.stops ?? [];
      this.advanced += stops.filter(({ event }) => event.type === 'ADVANCED').length;
    }
    if (row.outcome === 'crashLoop') this.crashLoops.add(`${row.task}: ${row.error ?? ''}`);
    const owners = new Set(changes.flatMap(({ owner }) => owner ?? []));
    if (owners.size > 1 && row.status === 'completed') this.recovered += 1;
  }

  /** All tasks of the store have been seen. */
  close(): void {
    for (const rule of RULES) if (rule.ofAll) this.#count(rule, rule.ofAll(this.#book));
    this.#book.close();
  }

  get rules(): RuleReport[] {
    return RULES.map((rule) => {
      const { name, proves } = rule;
      return { name, proves, ...this.#counts.get(rule)! };
    });
  }

  #count(rule: Rule, { looked, faults, undecided = 0 }: Finding): void {
    const counts = this.#counts.get(rule)!;
    counts.looked += looked;
    counts.broken += faults.length;
    counts.undecided += undecided;
    this.tallies[rule.weight].add(...faults.map((words) => `${rule.name}: ${words}`));
  }
}

/** Failures put together by what is the same about them. */
import { failureOf, fingerprintOf, namesOf } from '../../query/index.ts';
import type { ErrorGroup, TaskGlance } from '../reader.ts';

/** So many kinds of failures are told apart; of further ones nothing is said. */
const GROUPS_MAX = 10_000;
const GROUPS_TOLD_MAX = 1_000;
const MESSAGE_LENGTH_MAX = 1_000;

export class ErrorTally {
  readonly #groups = new Map<string, ErrorGroup>();
  readonly #isOfNames: boolean;

  /** `isOfNames`: what errors say is told to nobody, and makes no difference. */
  constructor(isOfNames: boolean) {
    this.#isOfNames = isOfNames;
  }

  /** Tasks come newest first. Answers whether it has had enough, which is never. */
  add(task: TaskGlance): boolean {
    const whole = failureOf(task.error) ?? {};
    const failure = this.#isOfNames ? namesOf(whole) : whole;
    const fingerprint = fingerprintOf({ machine: task.machine, ...failure });
    const at = task.finishedAt ?? task.createdAt;
    const known = this.#groups.get(fingerprint);
    if (known) {
      const firstAt = Math.min(known.firstAt, at);
      const lastAt = Math.max(known.lastAt, at);
      this.#groups.set(fingerprint, { ...known, count: known.count + 1, firstAt, lastAt });
    } else if (this.#groups.size < GROUPS_MAX) {
      this.#groups.set(fingerprint, {
        fingerprint,
        machine: task.machine,
        outcome: task.outcome ?? '',
        name: failure.code ?? failure.name ?? '',
        message: (failure.message ?? '').slice(0, MESSAGE_LENGTH_MAX),
        count: 1,
        firstAt: at,
        lastAt: at,
        example: task.id,
      });
    }
    return false;
  }

  /** The largest first. */
  groups(countMax: number): ErrorGroup[] {
    const count = Math.max(0, Math.min(countMax, GROUPS_TOLD_MAX));
    return [...this.#groups.values()]
      .sort(
        (one, other) =>
          other.count - one.count ||
          other.lastAt - one.lastAt ||
          (one.fingerprint < other.fingerprint ? -1 : 1),
      )
      .slice(0, count);
  }
}

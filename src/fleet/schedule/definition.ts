/** Schedules as programs declare them, with `defineSchedule`. */
import { faultOfOptions, namesOf } from '../../config/index.ts';
import { type Duration, encodeJson, parseDuration, show } from '../../ground/index.ts';
import type { Machine } from '../../machine/index.ts';
import {
  type Missed,
  type Overlap,
  refuseBadScheduleName,
  refuseBadSchedulePayload,
  refuseBadScheduleRevision,
  refuseBadScheduleWords,
  ScheduleError,
  type SchedulePlan,
  ticksOf,
} from '../../store/index.ts';

const INPUT_BYTES_MAX = 64 * 1024 * 1024;

/** What a schedule may say besides when, which machine, and with what. */
export interface ScheduleOptions {
  /** The time zone's name; 'UTC' by default. */
  readonly zone?: string | undefined;
  /** What becomes of ticks while no pod was up; 'one' by default: the last of them is made up for. */
  readonly missed?: Missed | undefined;
  /** What becomes of a tick while the run before has not ended; 'allow' by default: it is put in. */
  readonly overlap?: Overlap | undefined;
  /** Each run is put off by up to so much, always the same for the same tick. */
  readonly jitter?: Duration | undefined;
  readonly queue?: string | undefined;
  readonly priority?: number | undefined;
}

/** The input, but for the property that tells the tick. */
export type ScheduledInput<I, T> = T extends keyof I ? Omit<I, T> : I;

export interface ScheduleWish<I, T extends string | undefined> extends ScheduleOptions {
  readonly name: string;
  /** Minute, hour, day of the month, month, day of the week; or '@daily' and the like. */
  readonly cron: string;
  readonly machine: Machine<I, unknown>;
  readonly input: ScheduledInput<NoInfer<I>, NoInfer<T>>;
  /** The property of the input that is given the tick, as ISO 8601. */
  readonly tickAs?: T;
  /** To be raised with every change: of two that differ the higher one counts. 1 by default. */
  readonly revision?: number | undefined;
}

export interface ScheduleDefinition {
  readonly name: string;
  readonly revision: number;
  readonly plan: SchedulePlan;
}

const WISH_NAMES = namesOf<ScheduleWish<unknown, undefined>>({
  name: true,
  cron: true,
  zone: true,
  machine: true,
  input: true,
  tickAs: true,
  missed: true,
  overlap: true,
  jitter: true,
  queue: true,
  priority: true,
  revision: true,
});

/** Throws where it makes no sense. */
export function defineSchedule<I, const T extends string | undefined = undefined>(
  wish: ScheduleWish<I, T>,
): ScheduleDefinition {
  const fault = faultOfOptions(wish, WISH_NAMES);
  if (fault !== undefined) throw new ScheduleError(`defineSchedule ${fault}`);
  const { name, revision = 1, machine, cron, input, tickAs, ...options } = wish;
  refuseBadScheduleName(name);
  refuseBadScheduleRevision(revision);
  const plan = planOf({ machine: machine.name, cron, input, tickAs, ...options });
  return Object.freeze({ name, revision, plan });
}

/** What anybody wants of a schedule, as it is stored. */
export function planOf(
  wish: ScheduleOptions & {
    readonly machine: string;
    readonly cron: string;
    readonly input: unknown;
    readonly tickAs?: string | undefined;
  },
): SchedulePlan {
  const { machine, cron, input, tickAs, zone = 'UTC', missed = 'one', jitter = 0 } = wish;
  const { queue = 'default', priority = 0, overlap = 'allow' } = wish;
  ticksOf(cron, zone);
  const payload = encodeJson(input, `the input of ${machine}`, INPUT_BYTES_MAX);
  refuseBadSchedulePayload(payload, tickAs);
  const expression = cron.trim().split(/\s+/).join(' ');
  const words = { machine, expression, zone, payload, tickAs, missed, overlap, queue, priority };
  const plan = { ...words, jitterMs: jitterOf(jitter) };
  refuseBadScheduleWords(plan);
  return plan;
}

function jitterOf(jitter: Duration): number {
  const ms = jitter === 0 ? 0 : parseDuration(jitter);
  if (ms !== undefined) return ms;
  throw new ScheduleError(`jitter must be a duration such as '30s', got ${show(jitter)}`);
}

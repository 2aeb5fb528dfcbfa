/** What a schedule may say, and how much. */
import { sealedBytesMax, show } from '../../ground/index.ts';
import { ticksOf } from './cron.ts';
import { ScheduleError } from './errors.ts';
import { MISSED, OVERLAP, type SchedulePlan } from './schedules.ts';

export const SCHEDULE_NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
export const SCHEDULE_PAYLOAD_BYTES_MAX = 65_536;
export const JITTER_MS_MAX = 3_600_000;
const WORD_LENGTH_MAX = 200;
/** As of any task. */
const PRIORITY_MAX = 32_767;
const REVISION_MAX = 1_000_000_000;

export function refuseBadName(name: unknown): asserts name is string {
  if (typeof name === 'string' && SCHEDULE_NAME.test(name)) return;
  throw new ScheduleError(`${show(name)} is no name for a schedule`, {
    hint: 'use 1 to 100 of a-z, 0-9, dot, dash and underscore, like nightly-report',
  });
}

export function refuseBadRevision(revision: unknown): asserts revision is number {
  const isWhole = Number.isSafeInteger(revision) && Number(revision) >= 1;
  if (isWhole && Number(revision) <= REVISION_MAX) return;
  throw new ScheduleError(`the revision must be a whole number from 1, got ${show(revision)}`, {
    hint: 'raise it by one when what the schedule says changes',
  });
}

/** Of what is not sealed yet: a sealed payload is longer, and no JSON. */
export function refuseBadPayload(payload: string, tickAs: string | undefined): void {
  const bytes = Buffer.byteLength(payload);
  if (bytes > SCHEDULE_PAYLOAD_BYTES_MAX) {
    throw new ScheduleError(
      `the input of a schedule has ${bytes} bytes; ${SCHEDULE_PAYLOAD_BYTES_MAX} are the most`,
      { hint: 'name what is large, and let the machine read it' },
    );
  }
  if (tickAs === undefined) return;
  const input: unknown = JSON.parse(payload);
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (isObject && isWord(tickAs) && tickAs !== '__proto__') return;
  throw new ScheduleError('tickAs names a property of the input, which must be an object', {
    hint: `got ${show(tickAs)}, and the input ${show(input)}`,
  });
}

/** Throws where what a schedule says cannot be kept, or makes no sense. */
export function refuseBadWords(plan: SchedulePlan): void {
  const { machine, queue, missed, overlap, jitterMs, priority, tickAs = 'tick' } = plan;
  for (const [what, text] of Object.entries({ machine, queue, tickAs }))
    if (!isWord(text)) refuse(what, `text of 1 to ${WORD_LENGTH_MAX} characters`, text);
  // Also where it is sealed, and longer than it was.
  const bytes = Buffer.byteLength(plan.payload);
  if (bytes > sealedBytesMax(SCHEDULE_PAYLOAD_BYTES_MAX))
    refuse('the input', `of ${SCHEDULE_PAYLOAD_BYTES_MAX} bytes or less`, `${bytes} bytes`);
  if (!MISSED.includes(missed)) refuse('missed', MISSED.join(', '), missed);
  if (!OVERLAP.includes(overlap)) refuse('overlap', OVERLAP.join(', '), overlap);
  if (overlap === 'skip' && missed === 'all') {
    throw new ScheduleError(
      "missed 'all' puts in many at once, and overlap 'skip' has one at a time",
      {
        hint: "leave one of them out, or say missed 'one'",
      },
    );
  }
  if (!Number.isSafeInteger(jitterMs) || jitterMs < 0 || jitterMs > JITTER_MS_MAX)
    refuse('jitter', 'an hour or less', jitterMs);
  if (!Number.isSafeInteger(priority) || Math.abs(priority) > PRIORITY_MAX)
    refuse('priority', `a whole number up to ${PRIORITY_MAX}`, priority);
}

/** Also where it never ticks. */
export function refuseBadPlan(plan: SchedulePlan, now: number): void {
  refuseBadWords(plan);
  if (ticksOf(plan.expression, plan.zone).after(now) === undefined) {
    throw new ScheduleError(`the cron expression ${show(plan.expression)} never comes true`, {
      hint: 'look at its day of the month and its month',
    });
  }
}

function isWord(text: unknown): text is string {
  const isText = typeof text === 'string' && text !== '' && text.length <= WORD_LENGTH_MAX;
  return isText && !text.includes('\0');
}

function refuse(what: string, wanted: string, got: unknown): never {
  throw new ScheduleError(`${what} must be ${wanted}, got ${show(got)}`);
}

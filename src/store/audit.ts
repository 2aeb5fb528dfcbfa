/**
 * The row that an act leaves in the audit log, and what it is read for again: whoever sends the act a
 * second time, since the answer was lost, is answered from it, and nothing is done twice. A refusal
 * and a dry run leave none.
 */
import { hash, isoTime, isRunId, SEAL_PREFIX, sealedBytesMax } from '../ground/index.ts';
import type { Act, ActAnswer, Deed, Glimpse, Note, Revision } from './acts.ts';
import { boundedTime } from './bounds.ts';
import { decide, glimpseOf } from './decide.ts';
import { type Change, type Refused, refused, type Subject } from './decision.ts';
import { RequestReusedError, StoreRefusedError } from './errors.ts';

/** Of what a bulk operation does: nobody else's may stand in its place. */
export const BULK_REQUEST = 'bulk:';
export const REQUEST_ID_CHARS_MAX = 200;
export const WHO_CHARS_MAX = 200;
export const VIA_CHARS_MAX = 200;
export const REASON_CHARS_MAX = 1_000;

/** Words of an act that are kept for ever, each within its bounds; throws where one is not. */
export function refuseUnbounded(
  act: Pick<Act, 'requestId' | 'who' | 'via' | 'deed' | 'bulk'>,
): void {
  const { requestId, who, via, deed } = act;
  if (requestId.startsWith(BULK_REQUEST) && !act.bulk) {
    throw new StoreRefusedError(
      `a request id that begins with ${BULK_REQUEST} is a bulk operation's`,
      {
        hint: 'choose another one',
      },
    );
  }
  const words: readonly (readonly [name: string, text: string, charsMax: number])[] = [
    ['the request id', requestId, REQUEST_ID_CHARS_MAX],
    ['who asks', who, WHO_CHARS_MAX],
    ['via', via, VIA_CHARS_MAX],
    ...(deed.what === 'cancel'
      ? [['the reason', deed.reason, reasonMax(deed.reason)] as const]
      : []),
  ];
  for (const [name, text, charsMax] of words) {
    if (text.includes('\0')) {
      throw new StoreRefusedError(`${name} has the character NUL, which the store cannot hold`, {
        hint: 'leave it out',
      });
    }
    if (text.length <= charsMax && (text !== '' || name === 'the reason')) continue;
    throw new StoreRefusedError(
      `${name} must be a text of 1 to ${charsMax} characters, and has ${text.length}`,
      { hint: 'it is kept in the audit log; say it shorter' },
    );
  }
}

/** A sealed one is longer than what it was made of, whose length was looked at before. */
function reasonMax(reason: string): number {
  return reason.startsWith(SEAL_PREFIX) ? sealedBytesMax(4 * REASON_CHARS_MAX) : REASON_CHARS_MAX;
}

const NOTE_DETAIL_CHARS_MAX = 4_000;

/** The same note, where it is within its bounds. */
export function refuseLongNote(note: Note): Note {
  const { requestId, who, what, task, detail } = note;
  if (task !== undefined && !isRunId(task)) {
    throw new StoreRefusedError('a note for the audit log is of a task whose id is none', {
      hint: 'a task id is a ULID or a UUID in lower case',
    });
  }
  const fits =
    requestId.length <= REQUEST_ID_CHARS_MAX &&
    who.length <= WHO_CHARS_MAX &&
    what.length <= VIA_CHARS_MAX &&
    JSON.stringify(detail).length <= NOTE_DETAIL_CHARS_MAX;
  if (fits) return note;
  throw new StoreRefusedError('a note for the audit log is too long', { hint: 'say it shorter' });
}

/** Whether the log has the note already; one that stands for something else under its id is refused. */
export function isNoted(note: Note, logged: LoggedNote | undefined): boolean {
  if (!logged) return false;
  const { requestId, who, what, task, detail } = note;
  const isSame = logged.who === who && logged.what === what && logged.task === task;
  if (isSame && logged.detail === JSON.stringify(detail)) return true;
  throw new RequestReusedError(requestId, standsFor(logged));
}

/**
 * The note of a request that found everything as asked. It changes nothing and leaves its row all the
 * same, so that a copy of it that comes late finds its answer, and does not act on what others did since.
 */
export function alreadyNote(note: Note): Note {
  return { ...note, detail: { ...note.detail, kind: 'already' } };
}

/** How the request of this note was answered before; refused where it stands for something else. */
export function answeredBefore(
  note: Note,
  logged: LoggedNote | undefined,
): { readonly kind: 'done' | 'already'; readonly isRepeated: true } | undefined {
  const already = alreadyNote(note);
  const isAlready = logged?.detail === JSON.stringify(already.detail);
  if (!isNoted(isAlready ? already : note, logged)) return undefined;
  return { kind: isAlready ? 'already' : 'done', isRepeated: true };
}

function standsFor({ what, task = '' }: Logged): string {
  return `${what} ${task}`.trim();
}

/** What the audit log holds of an act besides its own columns. */
interface Detail {
  readonly kind: Change['kind'];
  readonly via: string;
  readonly before: Glimpse;
  readonly after: Glimpse;
  /** Of what was asked, so that a request id stands for one thing only. */
  readonly digest: string;
  readonly reason?: string | undefined;
  readonly due?: string | undefined;
  readonly isFresh?: boolean | undefined;
  readonly hasNewInput?: boolean | undefined;
  readonly made?: string | undefined;
  readonly from?: string | undefined;
}

type Done = Exclude<ActAnswer, { readonly kind: 'refused' }>;

/** What a store has found under the lock. */
export interface Found {
  /** What the log has under the request id. */
  readonly logged: Logged | undefined;
  readonly task: Subject | undefined;
  readonly now: number;
  /** The bulk operation that it is done for does not go on, or not by its sender. */
  readonly isFenced: boolean;
}

/** How an act is answered, and what is written before that, if anything. */
export interface Verdict {
  readonly answer: ActAnswer;
  readonly write?: { readonly change: Change; readonly detail: string } | undefined;
}

export function judge(act: Act, { logged, task, now, isFenced }: Found): Verdict {
  const before = task && glimpseOf(task);
  const no = (refusal: Refused): Verdict => ({ answer: { ...refusal, now: before } });
  if (logged) {
    const repeated = repeatedAnswer(act, logged);
    return repeated.kind === 'refused' ? no(repeated) : { answer: repeated };
  }
  if (isFenced) return no(refused('fenced', 'its bulk operation does not go on here any more'));
  if (!task) return no(refused('unknown', `there is no task ${act.task}`));
  const decision = decide(task, act.deed, act.ifRevision, now);
  if (decision.kind === 'refused') return no(decision);
  const answer = answerOf(act, task, decision);
  if (act.isDryRun) return { answer };
  return { answer, write: { change: decision, detail: detailOf(act, answer) } };
}

/** The answer to an act that is decided. */
function answerOf(act: Act, task: Subject, change: Change): Done {
  return {
    kind: change.kind,
    isDryRun: act.isDryRun ?? false,
    isRepeated: false,
    before: glimpseOf(task),
    after: glimpseOf(task, change.patch),
    made: act.deed.what === 'fork' ? act.deed.as : undefined,
  };
}

/** Its row: JSON text. Payloads are no part of it, for the log outlives them and is read by others. */
function detailOf(act: Act, { kind, before, after, made }: Done): string {
  const { via, deed } = act;
  const detail: Detail = { kind, via, before, after, made, digest: digestOf(act), ...saidBy(deed) };
  return JSON.stringify(detail);
}

function saidBy(deed: Deed): Partial<Detail> {
  switch (deed.what) {
    case 'cancel':
      return { reason: deed.reason };
    case 'reschedule':
      return {
        due: 'at' in deed.due ? isoTime(boundedTime(deed.due.at)) : `in ${deed.due.afterMs} ms`,
      };
    case 'redrive':
      return { isFresh: deed.isFresh, hasNewInput: deed.payload !== undefined };
    case 'fork':
      return { from: deed.state };
    default:
      return {};
  }
}

/** What the log has under a request id. */
export interface Logged {
  readonly what: string;
  readonly task: string | undefined;
  readonly detail: string | undefined;
}

export interface LoggedNote extends Logged {
  readonly who: string;
}

/** The answer that an act got when it was sent before; a refusal where it was another. */
function repeatedAnswer(act: Act, logged: Logged): Done | Refused {
  const detail = parsed(logged.detail);
  const isSame = logged.what === act.deed.what && logged.task === act.task;
  if (!detail || !isSame || detail.digest !== digestOf(act)) {
    return refused('reused', `the request id ${act.requestId} stands for: ${standsFor(logged)}`);
  }
  const { kind, before, after, made } = detail;
  if (!isAsSeen(before.revision, act.ifRevision)) {
    const at = `it was done to ${act.task} at ${before.revision}, and not at ${act.ifRevision}`;
    return refused('reused', `the request id ${act.requestId} stands for something else: ${at}`);
  }
  return { kind, isDryRun: false, isRepeated: true, before, after, made: made as Done['made'] };
}

/** It was done to what its sender has seen; of rows that older processes wrote less is known. */
function isAsSeen(before: Revision, seen: Revision | undefined): boolean {
  if (seen === undefined || seen === before) return true;
  return before.startsWith(`${seen}.`) || seen.startsWith(`${before}.`);
}

function parsed(text: string | undefined): Detail | undefined {
  try {
    return JSON.parse(text ?? 'null') as Detail | undefined;
  } catch {
    return undefined;
  }
}

/**
 * Names what is asked: one request id stands for one of them. Who asks is no part of it: a process that
 * asks again for one that died has another name, and nothing is done by being told what was done.
 */
export function digestOf({ task, deed, digest }: Act): string {
  return digest ?? hash(JSON.stringify([task, deed.what, ...wordsOf(deed)]));
}

/** In one order, whatever the order of its properties; the id of a fork is not what was asked for. */
function wordsOf(deed: Deed): readonly unknown[] {
  switch (deed.what) {
    case 'cancel':
      return [deed.reason];
    case 'reschedule':
      return 'at' in deed.due ? ['at', deed.due.at] : ['after', deed.due.afterMs];
    case 'redrive':
      return [deed.isFresh, deed.payload ?? null];
    case 'fork':
      return [deed.payload, deed.lastSeq, deed.state];
    default:
      return [];
  }
}

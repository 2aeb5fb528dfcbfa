/**
 * The texts of a task on their way to the shared tables and back. An error stays JSON whose name and code
 * can be read, as logs tell them too, so that people can group what they cannot open:
 *
 *   {"name":"TypeError","code":"ECONNRESET","message":"sealed","sealed":"fqs1.…"}
 */
import { type Codec, FleetqError, SEAL_PREFIX } from '../ground/index.ts';
import type { Deed } from './acts.ts';
import type { BeatAnswer } from './pods.ts';
import type { AuditRow } from './reader.ts';
import type { ClaimedTask, Segment } from './tasks.ts';

/** A task that has to be sealed, and is not. */
export class NotSealedError extends FleetqError {
  readonly code = 'FLEETQ_NOT_SEALED';
  readonly verdict = 'abort';
  constructor(task: string) {
    super(`the payload of task ${task} is not sealed, and only sealed ones are accepted`, {
      hint: 'enqueue it with the codec, or set codecRequired to false',
    });
  }
}

const INPUT = 'input';
const REASON = 'reason';
export const BULK_FILTER = 'bulk filter';
export const BULK_DEED = 'bulk deed';
export const SCHEDULE_INPUT = 'schedule input';
export const SCHEDULE_TROUBLE = 'schedule trouble';

export function sealInput(codec: Codec, task: string, payload: string): string {
  return codec.encode(payload, { run: task, what: INPUT });
}

export function openInput(codec: Codec, task: string, payload: string): string {
  return codec.decode(payload, { run: task, what: INPUT });
}

export const BARED = 'its input is sealed, and the new one is not: ask a process that has the key';

/** Whoever has no key would put in plain sight what its owners have sealed. */
export function isBared(before: string | undefined, given: string | undefined): boolean {
  return !!before?.startsWith(SEAL_PREFIX) && given?.startsWith(SEAL_PREFIX) === false;
}

export function sealReason(codec: Codec, task: string, reason: string): string {
  return codec.encode(reason, { run: task, what: REASON });
}

/** Of one generation: another has its own. */
export interface Told {
  readonly task: string;
  readonly generation: number;
}

export function sealResult(codec: Codec, { task, generation }: Told, result: string): string {
  return codec.encode(result, { run: task, what: `result ${generation}` });
}

export function sealError(codec: Codec, { task, generation }: Told, error: string): string {
  const sealed = codec.encode(error, { run: task, what: `error ${generation}` });
  if (sealed === error) return error;
  return JSON.stringify({ ...plainPart(error), message: 'sealed', sealed });
}

/** As far as logs tell it: words of programs, which hold nothing of anybody's. */
const NAME = /^[A-Z][A-Za-z]{0,59}$/;
const CODE = /^[A-Z]+(_[A-Z]+)*$/;

function plainPart(error: string): { name?: string; code?: string } {
  const { name, code } = objectOf(error) ?? {};
  return {
    ...(typeof name === 'string' && NAME.test(name) ? { name } : {}),
    ...(typeof code === 'string' && CODE.test(code) && code.length <= 60 ? { code } : {}),
  };
}

/** What people see: a text for which there is no key, or that does not open, stays as it is. */
export function looseOpen(codec: Codec, run: string, what: string, text: string): string {
  try {
    return codec.decode(text, { run, what });
  } catch (error) {
    if (error instanceof FleetqError) return text;
    throw error;
  }
}

export function openResult(codec: Codec, { task, generation }: Told, result: string): string {
  return looseOpen(codec, task, `result ${generation}`, result);
}

/** Sealed as a whole by its owner, or around the reason that somebody gave for a cancellation. */
export function openError(codec: Codec, { task, generation }: Told, error: string): string {
  if (!error.includes(`"${SEAL_PREFIX}`)) return error;
  const { sealed, message } = objectOf(error) ?? {};
  if (typeof sealed === 'string') {
    const opened = looseOpen(codec, task, `error ${generation}`, sealed);
    return opened === sealed ? error : opened;
  }
  if (typeof message !== 'string') return error;
  return JSON.stringify({ ...objectOf(error), message: openReason(codec, task, message) });
}

export function openReason(codec: Codec, task: string, reason: string): string {
  return looseOpen(codec, task, REASON, reason);
}

/** A row of the audit log, with the reason that was given. */
export function openAudited(codec: Codec, row: AuditRow): AuditRow {
  const { task, detail } = row;
  if (task === undefined && detail?.includes(`"filter":"${SEAL_PREFIX}`))
    return openBulkNote(codec, row);
  if (task === undefined || !detail?.includes(`"${SEAL_PREFIX}`)) return row;
  const told = objectOf(detail);
  if (typeof told?.['reason'] !== 'string') return row;
  const reason = openReason(codec, task, told['reason']);
  return { ...row, detail: JSON.stringify({ ...told, reason }) };
}

/** How a bulk operation began: the filter is that of its row. */
function openBulkNote(codec: Codec, row: AuditRow): AuditRow {
  const told = objectOf(row.detail ?? '');
  const { bulk, filter } = told ?? {};
  if (typeof bulk !== 'string' || typeof filter !== 'string') return row;
  const opened = looseOpen(codec, bulk, BULK_FILTER, filter);
  return { ...row, detail: JSON.stringify({ ...told, filter: opened }) };
}

/** The segment in which a redrive has kept how an earlier generation ended. */
export function openOutcome(codec: Codec, segment: Segment): Segment {
  if (segment.state !== 'outcome') return segment;
  const event = objectOf(segment.events)?.['0'] as { readonly error?: unknown } | undefined;
  if (typeof event?.error !== 'string') return segment;
  const error = openError(codec, segment, event.error);
  return error === event.error
    ? segment
    : { ...segment, events: JSON.stringify([{ ...event, error }]) };
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** What a claim has brought; a payload that does not open says why, and is not there. */
export function openClaimed<T extends ClaimedTask>(
  codec: Codec,
  task: T,
  { isRequired, bytesMax }: { readonly isRequired: boolean; readonly bytesMax: number | undefined },
): T {
  const { payload } = task;
  if (payload === undefined) return task;
  if (isRequired && !payload.startsWith(SEAL_PREFIX)) {
    return { ...task, payload: undefined, unopened: new NotSealedError(task.task) };
  }
  try {
    const opened = openInput(codec, task.task, payload);
    if (opened === payload) return task;
    const bytes = bytesMax === undefined ? 0 : Buffer.byteLength(opened);
    return bytesMax !== undefined && bytes > bytesMax
      ? { ...task, payload: undefined, oversizeBytes: bytes }
      : { ...task, payload: opened };
  } catch (error) {
    if (!(error instanceof FleetqError)) throw error;
    return { ...task, payload: undefined, unopened: error };
  }
}

/** What a heartbeat was answered, with the reasons that people gave. */
export function openControls(codec: Codec, answer: BeatAnswer): BeatAnswer {
  if (answer.kind !== 'taken' || answer.controls.length === 0) return answer;
  const controls = answer.controls.map((control) => ({
    ...control,
    reason: openReason(codec, control.task, control.reason),
  }));
  return { ...answer, controls };
}

/** What somebody does to a task, as it may be stored. Records of a fork are sealed by who makes them. */
export function sealDeed(codec: Codec, task: string, deed: Deed): Deed {
  switch (deed.what) {
    case 'cancel':
      return { ...deed, reason: sealReason(codec, task, deed.reason) };
    case 'redrive':
      return deed.payload === undefined
        ? deed
        : { ...deed, payload: sealInput(codec, task, deed.payload) };
    case 'fork':
      return { ...deed, payload: sealInput(codec, deed.as, deed.payload) };
    default:
      return deed;
  }
}

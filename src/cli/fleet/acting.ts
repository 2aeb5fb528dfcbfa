/**
 * What a person does to a task, as every such command does it: as a request with an id, told by whom,
 * only to what was seen if so wished, tried out first if so wished, and answered in one shape.
 */
import { hostname, userInfo } from 'node:os';
import { TaskNotFoundError } from '../../fleet/index.ts';
import { type RunId, runIdMint, show, systemClock, systemRandom } from '../../ground/index.ts';
import {
  type ActAnswer,
  type Deed,
  isRevision,
  REASON_CHARS_MAX,
  REQUEST_ID_CHARS_MAX,
  type Revision,
  type Store,
  WHO_CHARS_MAX,
} from '../../store/index.ts';
import type { Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit, type ExitCode } from '../exit.ts';
import type { Io } from '../io.ts';
import type { Output } from '../output.ts';

export const REASON_DEFAULT = 'cancelled by request';

/** Whoever is at the keyboard, for the audit log. */
export function whoami(env: Io['env'] = process.env): string {
  return `${userName(env)}@${hostname()}`.slice(0, WHO_CHARS_MAX);
}

function userName(env: Io['env']): string {
  try {
    // Not from the environment first: that says whatever one likes.
    return userInfo().username;
  } catch {
    // A user without a name, as in a container.
    const said = env['USER'];
    if (said) return said;
    return String(process.getuid?.() ?? 'somebody');
  }
}

/** Of what is done to many tasks, and of the runs that do it. */
export const mintBulk = runIdMint(systemClock, systemRandom);
export const mintRequest: () => string = mintBulk;

export interface Acted {
  readonly answer: ActAnswer;
  readonly requestId: string;
}

export async function actOn(
  store: Store,
  task: RunId,
  deed: Deed,
  options: Options,
  seen?: Revision,
): Promise<Acted> {
  const requestId = requestIdOf(options['requestId']);
  const ifRevision = revisionOf(options['ifRevision']) ?? seen;
  const isDryRun = options['dryRun'] === true;
  const words = { requestId, who: whoami(), via: 'cli', isDryRun, ifRevision };
  const answer = await store.act({ ...words, task, deed });
  if (answer.kind === 'refused' && answer.why === 'unknown') throw new TaskNotFoundError(task);
  return { answer, requestId };
}

/** Says what came of it; `said` is for people, where it was done or will be. */
export function sayAct(
  output: Output,
  task: string,
  deed: Deed,
  { answer, requestId }: Acted,
  said: Readonly<Record<'done' | 'requested' | 'already', string>>,
): ExitCode {
  const { what } = deed;
  const { kind, ...more } = answer;
  if (output.isJson) output.json({ task, what, answer: kind, ...more, requestId });
  if (answer.kind === 'refused') {
    output.note(`${task} cannot be ${PAST[what]}: ${answer.detail}`);
    return Exit.failure;
  }
  const line = `${task} ${said[answer.kind]}`;
  if (answer.isDryRun) output.note(`only tried: nothing was changed; otherwise: ${line}`);
  else if (answer.isRepeated) output.note(`had been done by this request: ${line}`);
  else if (!output.isJson) output.line(line);
  return Exit.ok;
}

const PAST: Readonly<Record<Deed['what'], string>> = {
  cancel: 'cancelled',
  pause: 'paused',
  resume: 'resumed',
  retry: 'retried',
  reschedule: 'rescheduled',
  redrive: 'redriven',
  discard: 'discarded',
  fork: 'forked',
};

export function reasonOf(text: unknown): string {
  return text === undefined ? REASON_DEFAULT : String(text).slice(0, REASON_CHARS_MAX);
}

/** Of a change that need not have one. */
export function reasonFor(text: unknown): string | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && text !== '' && text.length <= REASON_CHARS_MAX) return text;
  throw new UsageError(`--reason must be text of 1 to ${REASON_CHARS_MAX} characters`);
}

export function requestIdOf(text: unknown): string {
  if (text === undefined) return mintRequest();
  if (typeof text === 'string' && text !== '' && text.length <= REQUEST_ID_CHARS_MAX) return text;
  throw new UsageError(
    `--request-id must be text of 1 to ${REQUEST_ID_CHARS_MAX} characters, got ${show(text)}`,
  );
}

function revisionOf(text: unknown): Revision | undefined {
  if (text === undefined) return undefined;
  if (typeof text === 'string' && isRevision(text)) return text;
  throw new UsageError(`--if-revision must be like 1.4.0, or a generation, got ${show(text)}`, {
    hint: 'fleetq run <task> shows it as `revision`',
  });
}

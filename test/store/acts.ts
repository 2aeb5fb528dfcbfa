/** What people do, in one word each; every call is a request of its own. */
import type { RunId } from '../../src/ground/index.ts';
import { type Act, type ActAnswer, type Deed, generationSeen } from '../../src/store/acts.ts';
import type { Store } from '../../src/store/store.ts';
import type { Due } from '../../src/store/tasks.ts';

type Acting = Pick<Store, 'act'>;
type Answered = 'done' | 'requested' | 'tooLate' | 'unknown';

let requestCount = 0;

export function actOf(task: RunId | string, deed: Deed, options: Partial<Act> = {}): Act {
  requestCount += 1;
  const requestId = `request-${requestCount}`;
  return { requestId, who: 'ann', via: 'test', task: task as RunId, deed, ...options };
}

/** As one word: how it was done, or why it was not. */
export function wordOf(answer: ActAnswer): string {
  return answer.kind === 'refused' ? answer.why : answer.kind;
}

export async function doTo(
  store: Acting,
  task: RunId | string,
  deed: Deed,
  options: Partial<Act> = {},
): Promise<string> {
  return wordOf(await store.act(actOf(task, deed, options)));
}

const CHANGED: Readonly<Record<string, Answered>> = {
  done: 'done',
  already: 'done',
  requested: 'requested',
  unknown: 'unknown',
};

export async function cancelTask(store: Acting, task: RunId, reason: string): Promise<Answered> {
  return CHANGED[await doTo(store, task, { what: 'cancel', reason })] ?? 'tooLate';
}

export async function rescheduleTask(store: Acting, task: RunId, due: Due): Promise<Answered> {
  return CHANGED[await doTo(store, task, { what: 'reschedule', due })] ?? 'tooLate';
}

/** `no` where it was not fit for it. */
export async function pauseTask(store: Acting, task: RunId): Promise<Answered | 'no'> {
  return CHANGED[await doTo(store, task, { what: 'pause' })] ?? 'no';
}

export async function resumeTask(store: Acting, task: RunId): Promise<Answered | 'no'> {
  return CHANGED[await doTo(store, task, { what: 'resume' })] ?? 'no';
}

export async function retryTask(store: Acting, task: RunId): Promise<Answered | 'no'> {
  return CHANGED[await doTo(store, task, { what: 'retry' })] ?? 'no';
}

interface Seen {
  readonly generation: number;
}

/** The new generation, where this made one. */
export async function redriveTask(
  store: Acting,
  task: RunId,
  { generation }: Seen,
  { isFresh }: { readonly isFresh: boolean },
): Promise<number | undefined> {
  const ifRevision = generationSeen(generation);
  const word = await doTo(store, task, { what: 'redrive', isFresh }, { ifRevision });
  return word === 'done' ? generation + 1 : undefined;
}

export async function discardTask(
  store: Acting,
  task: RunId,
  { generation }: Seen,
): Promise<boolean> {
  const ifRevision = generationSeen(generation);
  const word = await doTo(store, task, { what: 'discard' }, { ifRevision });
  return word === 'done' || word === 'already';
}

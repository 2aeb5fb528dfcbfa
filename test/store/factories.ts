/** Pods, tasks, settlements and segments with everything filled in, for tests that care about one thing. */
import { hash, type RunId, runIdMint } from '../../src/ground/index.ts';
import type { PodBirth } from '../../src/store/pods.ts';
import type { ClaimRequest, NewTask, Segment, Settlement } from '../../src/store/tasks.ts';
import type { Claim, PodId } from '../../src/store/words.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';

export const MACHINE = 'sample/one';
export const ROUTE = `${MACHINE}@1`;
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

/** Ascending over the whole suite, so that the order of ids is the order of making. */
export const newId = runIdMint(new FakeClock(), seededRandom(7));

export function newTask(options: Partial<NewTask> = {}): NewTask {
  return {
    id: newId(),
    machine: MACHINE,
    version: 1,
    queue: 'default',
    priority: 0,
    due: undefined,
    payload: '{}',
    key: undefined,
    keyMs: HOUR,
    retriesMax: undefined,
    deadlineMs: undefined,
    traceParent: undefined,
    ...options,
  };
}

export function newTasks(count: number, options: Partial<NewTask> = {}): NewTask[] {
  return Array.from({ length: count }, () => newTask(options));
}

export function claimOf({ task, generation, epoch }: Claim): Claim {
  return { task, generation, epoch };
}

/** The hash of a record in an honest chain; `branch` makes it another one. */
export function hashAt(task: RunId, seq: number, branch = ''): string {
  return seq < 0 ? '' : hash(`${task}:${seq}:${branch}`);
}

export function segment(claim: Claim, first: number, last: number, branch = ''): Segment {
  const seqs = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return {
    ...claimOf(claim),
    firstSeq: first,
    lastSeq: last,
    prevHash: hashAt(claim.task, first - 1),
    lastHash: hashAt(claim.task, last, branch),
    state: `main.work after ${last}`,
    events: JSON.stringify(seqs.map((seq) => ({ seq, hash: hashAt(claim.task, seq, branch) }))),
  };
}

interface LeavingOptions {
  readonly tail?: Segment | undefined;
  readonly retriesAdd?: number;
  readonly hasCompletedStep?: boolean;
}

function leaving(claim: Claim, { tail, retriesAdd = 0, hasCompletedStep = false }: LeavingOptions) {
  return {
    ...claimOf(claim),
    tail,
    lastSeq: tail?.lastSeq ?? -1,
    lastHash: tail?.lastHash ?? '',
    retriesAdd,
    hasCompletedStep,
  };
}

export function completed(
  claim: Claim,
  options: LeavingOptions & { readonly result?: string } = {},
): Settlement {
  const { result = '{"ok":true}' } = options;
  return {
    ...leaving(claim, options),
    to: 'completed',
    outcome: 'completed',
    result,
    error: undefined,
  };
}

export function failed(claim: Claim, options: LeavingOptions = {}): Settlement {
  const error = '{"code":"SAMPLE","message":"it broke"}';
  return { ...leaving(claim, options), to: 'failed', outcome: 'aborted', result: undefined, error };
}

export function cancelled(claim: Claim, options: LeavingOptions = {}): Settlement {
  return {
    ...leaving(claim, options),
    to: 'cancelled',
    outcome: 'cancelled',
    result: undefined,
    error: undefined,
  };
}

export function released(
  claim: Claim,
  options: LeavingOptions & { readonly isUntouched?: boolean } = {},
): Settlement {
  const { isUntouched } = options;
  return { ...leaving(claim, options), to: 'pending', isUntouched };
}

export function parked(
  claim: Claim,
  waitFor: 'retry' | 'sleep' | 'signal' | 'version' | 'key',
  afterMs: number,
  options: LeavingOptions = {},
): Settlement {
  return { ...leaving(claim, options), to: 'waiting', waitFor, afterMs };
}

export function ids(
  tasks: readonly ({ readonly task: RunId } | { readonly id: RunId })[],
): RunId[] {
  return tasks.map((task) => ('task' in task ? task.task : task.id));
}

/** The code within an error as it is stored. */
export function codeOf(error: string | undefined): unknown {
  return (JSON.parse(error ?? 'null') as { code?: unknown } | null)?.code;
}

export function podOf(name: string): PodId {
  return `pod-${name}` as PodId;
}

export function birthOf(name: string): PodBirth {
  return {
    pod: podOf(name),
    name,
    journal: `journal-${name}`,
    boot: 1,
    lsn: 0,
    routes: [ROUTE],
    report: { capacity: 10 },
    nonce: `nonce-of-${name}`,
  };
}

export function claimRequest(pod: PodId, options: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    pod,
    routes: [ROUTE],
    countMax: 100,
    token: 'token',
    journal: pod.replace(/^pod-/, 'journal-'),
    head: 'ready',
    ...options,
  };
}

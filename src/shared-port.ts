/** The store of a fleet as those need it who serve people. */
import type { SharedPort, Starting } from './admin/index.ts';
import { runNow } from './fleet/index.ts';
import type { RunNowPorts } from './fleet/schedule/run-now.ts';
import { type Duration, type RunId, runIdMint, systemRandom } from './ground/index.ts';
import type { Store } from './store/index.ts';

/** A task of the newest version of a machine, with its row in the audit log. */
export type StartTask = (
  name: string,
  input: unknown,
  options: Starting,
) => Promise<{ readonly id: RunId }>;

/** What a fleet, or a process that only serves, can do with tasks. */
export interface TaskPort {
  start: StartTask;
  checkInput(name: string, input: unknown, version?: number): Promise<void>;
  ended(id: RunId, timeout: Duration): Promise<unknown>;
  /** For runs of schedules that people ask for. */
  readonly running: Omit<RunNowPorts, 'store'>;
}

export function sharedPortOf(
  store: Store,
  tasks: TaskPort,
  options: { readonly silentMs?: number | undefined; readonly readUrl?: string | undefined } = {},
): SharedPort {
  const { silentMs, readUrl } = options;
  return {
    silentMs: silentMs ?? store.capabilities.silentMs,
    act: (act) => store.act(act),
    note: (note) => store.note(note),
    beginBulk: (bulk) => store.beginBulk(bulk),
    orderBulk: (order) => store.orderBulk(order),
    changeFlow: (change) => store.changeFlow(change),
    changeSchedule: (change) => store.changeSchedule(change),
    runSchedule: (row, by) => runNow({ store, ...tasks.running }, row, by),
    changeThrottle: (change) => store.changeThrottle(change),
    requestDrain: (pod) => store.requestDrain(pod),
    openReader: () => store.openReader({ url: readUrl }),
    start: tasks.start,
    checkInput: (name, input, version) => tasks.checkInput(name, input, version),
    ended: (id, timeout) => tasks.ended(id, timeout),
  };
}

/** Of a fleet; undefined where it has no store. */
export function sharedOfFleet(
  fleet: Pick<TaskPort, 'checkInput'> & {
    taskById(id: string): { result(options: { readonly timeout: Duration }): Promise<unknown> };
  },
  parts: Pick<RunNowPorts, 'registry' | 'clock'> & {
    readonly member?: { readonly store: Store } | undefined;
    readonly retentionMs: number;
  },
  start: StartTask,
  readUrl?: string | undefined,
): SharedPort | undefined {
  const { member, registry, clock, retentionMs: keyMs } = parts;
  if (!member) return undefined;
  const tasks: TaskPort = {
    start,
    checkInput: (name, input, version) => fleet.checkInput(name, input, version),
    ended: (id, timeout) => fleet.taskById(id).result({ timeout }),
    running: { registry, clock, keyMs, mint: runIdMint(clock, systemRandom) },
  };
  return sharedPortOf(member.store, tasks, { readUrl });
}

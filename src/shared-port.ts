/** The store of a fleet as those need it who serve people. */
import type { SharedPort, Starting } from './admin/index.ts';
import type { Duration, RunId } from './ground/index.ts';
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
  store: Store | undefined,
  start: StartTask,
  readUrl?: string | undefined,
): SharedPort | undefined {
  if (!store) return undefined;
  const tasks: TaskPort = {
    start,
    checkInput: (name, input, version) => fleet.checkInput(name, input, version),
    ended: (id, timeout) => fleet.taskById(id).result({ timeout }),
  };
  return sharedPortOf(store, tasks, { readUrl });
}

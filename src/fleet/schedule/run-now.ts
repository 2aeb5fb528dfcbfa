/** One run of a schedule now, since somebody asks for it: beside its ticks, which stay as they are. */
import type { Clock, MintRunId } from '../../ground/index.ts';
import type { Registry } from '../../machine/index.ts';
import {
  type ScheduleAnswer,
  type ScheduleChange,
  ScheduleError,
  type ScheduleRow,
  type Store,
} from '../../store/index.ts';
import { isSealed, taskOf } from './tasks.ts';

export interface RunNowPorts {
  readonly store: Pick<Store, 'changeSchedule' | 'openReader'>;
  readonly registry: Pick<Registry, 'newest'>;
  readonly clock: Clock;
  readonly mint: MintRunId;
  readonly keyMs: number;
}

/** Who asks for it, and why. */
export type RunNow = Omit<ScheduleChange, 'name' | 'order' | 'digest'>;

/** How often it may be changed while a run of it is made. */
const ATTEMPTS_MAX = 5;

/**
 * `row` is what the schedule says, by whomever: if the store has it otherwise, that counts. Once for a
 * request id, whose run is answered again.
 */
export async function runNow(
  ports: RunNowPorts,
  row: ScheduleRow,
  by: RunNow,
): Promise<ScheduleAnswer> {
  let seen = row;
  for (let attempts = 1; ; attempts += 1) {
    const answer = await runOf(ports, seen, by);
    const isStale = answer.kind === 'refused' && answer.why === 'changed';
    if (!isStale || attempts >= ATTEMPTS_MAX) return answer;
    const reader = await ports.store.openReader();
    const [found] = await reader
      .schedules({ names: [row.name], countMax: 1 })
      .finally(() => reader.close());
    seen = found ?? seen;
  }
}

async function runOf(
  { store, registry, ...ports }: RunNowPorts,
  row: ScheduleRow,
  by: RunNow,
): Promise<ScheduleAnswer> {
  const { name, edition } = row;
  if (isSealed(row)) {
    throw new ScheduleError(`the input of ${name} is sealed, and there is no key for it here`, {
      hint: 'run it from a process that has the key',
    });
  }
  const key = `schedule/${name}/now/${by.requestId}`;
  const plan = registry.newest(row.machine);
  const task = await taskOf(row, ports.clock.now(), key, { plan, ...ports });
  return store.changeSchedule({ ...by, name, order: { what: 'run', task, edition } });
}

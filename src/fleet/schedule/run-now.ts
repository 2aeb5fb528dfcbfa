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
  readonly store: Pick<Store, 'changeSchedule'>;
  readonly registry: Pick<Registry, 'newest'>;
  readonly clock: Clock;
  readonly mint: MintRunId;
  readonly keyMs: number;
}

/** Who asks for it, and why. */
export type RunNow = Omit<ScheduleChange, 'name' | 'order' | 'digest'>;

/** `row` is what the schedule says. Once for a request id, whose run is answered again. */
export async function runNow(
  { store, registry, ...ports }: RunNowPorts,
  row: ScheduleRow,
  by: RunNow,
): Promise<ScheduleAnswer> {
  const { name } = row;
  if (isSealed(row)) {
    throw new ScheduleError(`the input of ${name} is sealed, and there is no key for it here`, {
      hint: 'run it from a process that has the key',
    });
  }
  const key = `schedule/${name}/now/${by.requestId}`;
  const plan = registry.newest(row.machine);
  const task = await taskOf(row, ports.clock.now(), key, { plan, ...ports });
  return store.changeSchedule({ ...by, name, order: { what: 'run', task } });
}

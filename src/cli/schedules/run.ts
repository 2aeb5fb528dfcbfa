/** fleetq schedules run <name>: one run of it now, by whoever has its machine. */
import { refuseUnknown } from '../../admin/index.ts';
import { durationOption } from '../../config/index.ts';
import { runNow } from '../../fleet/index.ts';
import { runIdMint, systemClock, systemRandom } from '../../ground/index.ts';
import { Registry } from '../../machine/index.ts';
import { ScheduleNotFoundError, type ScheduleRow, type Store } from '../../store/index.ts';
import type { Execute } from '../command.ts';
import { withStore } from '../fleet/open.ts';
import { loadMachines } from '../machines.ts';
import { byOf, sayChange } from './say.ts';

const DONE = { done: 'has a run', already: 'has a run' } as const;

export const run: Execute = async ({ config, output }, options, name) => {
  const by = byOf(options);
  const { machines } = await loadMachines(config, config.cwd);
  return withStore(config, async (store) => {
    const row = await find(store, name!);
    refuseUnknown({ machines } as never, row.machine);
    const keyMs = durationOption('retention', config.retention);
    const ports = { clock: systemClock, mint: runIdMint(systemClock, systemRandom), keyMs };
    const answer = await runNow({ store, registry: new Registry(machines), ...ports }, row, by);
    return sayChange(output, { name: name!, order: { what: 'run' }, ...by }, answer, DONE);
  });
};

async function find(store: Store, name: string): Promise<ScheduleRow> {
  const reader = await store.openReader();
  try {
    const [row] = await reader.schedules({ names: [name], countMax: 1 });
    if (!row) throw new ScheduleNotFoundError(name);
    return row;
  } finally {
    await reader.close();
  }
}

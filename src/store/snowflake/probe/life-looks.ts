/** What pods, leaders and people ask of a store, each once. */
import type { RunId } from '../../../ground/index.ts';
import type { StoreReader } from '../../reader.ts';
import type { SnowflakeStore } from '../snowflake-store.ts';

const HOUR_MS = 3_600_000;
const COUNT_MAX = 10;

export function looks(
  store: SnowflakeStore,
  machine: string,
  route: string,
): readonly (readonly [what: string, act: () => Promise<unknown>])[] {
  const runs = async () => {
    const rows = await store.list({ countMax: COUNT_MAX });
    return rows.map(({ id, generation }) => ({ task: id, generation }));
  };
  const ids = async (): Promise<RunId[]> => (await runs()).map(({ task }) => task);
  const reading = (ask: (reader: StoreReader) => Promise<unknown>) => async () => {
    const reader = await store.openReader();
    try {
      await ask(reader);
    } finally {
      await reader.close();
    }
  };
  return [
    ['list', runs],
    ['find', async () => store.find(await ids())],
    ['read histories', async () => store.histories(await runs())],
    ['read outlines', async () => store.outlines(await runs())],
    ['read heads', async () => store.heads(await runs())],
    ['list pods', () => store.pods()],
    ['make a worklist', () => store.worklist(HOUR_MS)],
    ['look for the hopeless', () => store.hasHopeless(HOUR_MS)],
    ['look for the old', () => store.hasOld(HOUR_MS, HOUR_MS)],
    ['look for suspects', () => store.hasSuspects([route])],
    ['count what is in flight', () => store.inFlight([route])],
    ['count everything', () => store.census(COUNT_MAX, HOUR_MS)],
    ['list queues', () => store.queues()],
    ['list machines', () => store.known()],
    ['look for abandoned machines', () => store.abandoned([machine])],
    ['list paused machines', () => store.pausedMachines()],
    ['list throttles', () => store.throttles()],
    ['look for due schedules', () => store.dueSchedules([machine], COUNT_MAX)],
    ['look for violations', () => store.violations()],
    ['read the audit log', reading((reader) => reader.audit({ countMax: COUNT_MAX }))],
    ['read terms', reading((reader) => reader.leaderTerms(COUNT_MAX))],
    ['read schedules', reading((reader) => reader.schedules({ countMax: COUNT_MAX }))],
    ['read last segments', reading(async (reader) => reader.lastSegments(await runs()))],
  ];
}

/** Schedules behind a codec: their inputs are sealed, and so are those of the tasks they put in. */
import { type Codec, identityCodec } from '../../ground/index.ts';
import { looseOpen, SCHEDULE_INPUT, SCHEDULE_TROUBLE, sealInput } from '../sealed-texts.ts';
import type { Store } from '../store.ts';
import { digestOf } from './decide.ts';
import type { ScheduleChange, ScheduleRow } from './schedules.ts';

type SealingSchedules = Pick<Store, 'changeSchedule' | 'dueSchedules' | 'tickSchedule'>;

export function sealingSchedules(store: Store, codec: Codec): SealingSchedules {
  return {
    changeSchedule: async (change) => {
      const answer = await store.changeSchedule(sealChange(codec, change));
      if (answer.kind === 'refused') return answer;
      return { ...answer, schedule: openSchedule(codec, answer.schedule) };
    },
    // What cannot be opened here is told by whoever reads it as an input.
    dueSchedules: async (machines, countMax) => {
      const found = await store.dueSchedules(machines, countMax);
      return { ...found, due: found.due.map((row) => openSchedule(codec, row)) };
    },
    tickSchedule: (ticking) =>
      store.tickSchedule({
        ...ticking,
        // Of an input that was refused it may say what it is.
        trouble:
          ticking.trouble &&
          codec.encode(ticking.trouble, { run: ticking.name, what: SCHEDULE_TROUBLE }),
        tasks: ticking.tasks.map((task) => ({
          ...task,
          payload: sealInput(codec, task.id, task.payload),
        })),
      }),
  };
}

/** What was asked is named before it is sealed: sent again it is sealed in other letters. */
function sealChange(codec: Codec, change: ScheduleChange): ScheduleChange {
  const { name: run, order } = change;
  if (order.what === 'run') {
    const payload = sealInput(codec, order.task.id, order.task.payload);
    return { ...change, order: { ...order, task: { ...order.task, payload } } };
  }
  if (!('plan' in order) || codec === identityCodec) return change;
  const plain = digestOf(change);
  const payload = codec.encode(order.plan.payload, { run, what: SCHEDULE_INPUT });
  return {
    ...change,
    digest: codec.mac?.(plain, { run, what: 'digest' }) ?? plain,
    order: { ...order, plan: { ...order.plan, payload } },
  };
}

export function openSchedule(codec: Codec, row: ScheduleRow): ScheduleRow {
  const { name, payload, trouble } = row;
  return {
    ...row,
    payload: looseOpen(codec, name, SCHEDULE_INPUT, payload),
    trouble: trouble && looseOpen(codec, name, SCHEDULE_TROUBLE, trouble),
  };
}

/** fleetq reschedule <task> --run-at 10m: changes when a task is due that nobody holds. */
import type { RunId } from '../../ground/index.ts';
import type { Execute } from '../command.ts';
import { UsageError } from '../errors.ts';
import { readDue } from '../input.ts';
import { idOf } from '../runs.ts';
import { actOn, sayAct } from './acting.ts';
import { withStore } from './open.ts';

const SAID = { done: 'rescheduled', requested: 'rescheduled', already: 'rescheduled' };

export const reschedule: Execute = async ({ config, output }, options, task) => {
  idOf(task, 'the argument');
  const due = readDue(options['runAt']);
  if (!due) throw new UsageError("--run-at is missing: a duration such as '10m', or a time");
  const deed = { what: 'reschedule', due } as const;
  return withStore(config, async (store) => {
    const acted = await actOn(store, task as RunId, deed, options);
    return sayAct(output, task!, deed, acted, SAID);
  });
};

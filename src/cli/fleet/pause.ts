/** fleetq pause | resume | retry <task>: stop before the next phase, go on, and go on now. */
import type { RunId } from '../../ground/index.ts';
import type { Deed } from '../../store/index.ts';
import type { Execute } from '../command.ts';
import { idOf } from '../runs.ts';
import { actOn, sayAct } from './acting.ts';
import { withStore } from './open.ts';

function doing(deed: Deed, said: Parameters<typeof sayAct>[4]): Execute {
  return async ({ config, output }, options, task) => {
    idOf(task, 'the argument');
    return withStore(config, async (store) => {
      const acted = await actOn(store, task as RunId, deed, options);
      return sayAct(output, task!, deed, acted, said);
    });
  };
}

export const pause = doing(
  { what: 'pause' },
  {
    done: 'paused',
    requested: 'asked to pause: the pod that holds it gives it back after the phase in hand',
    already: 'was paused before',
  },
);

export const resume = doing(
  { what: 'resume' },
  { done: 'resumed', requested: 'asked to go on', already: 'is not paused' },
);

export const retry = doing(
  { what: 'retry' },
  { done: 'is due now', requested: 'asked to go on', already: 'is due already' },
);

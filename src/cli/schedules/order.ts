/** fleetq schedules pause | resume | remove <name>. */
import type { Execute } from '../command.ts';
import { withStore } from '../fleet/open.ts';
import { byOf, sayChange } from './say.ts';

function ordering(what: 'pause' | 'resume' | 'remove', done: string, already: string): Execute {
  return async ({ config, output }, options, name) => {
    const change = { name: name!, order: { what }, ...byOf(options) };
    return withStore(config, async (store) =>
      sayChange(output, change, await store.changeSchedule(change), { done, already }),
    );
  };
}

export const pause = ordering('pause', 'ticks no more until it is resumed', 'is paused');
export const resume = ordering('resume', 'goes on with its next tick', 'goes on anyway');
export const remove = ordering('remove', 'is removed', 'is removed');

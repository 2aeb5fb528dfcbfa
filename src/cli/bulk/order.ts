/** fleetq bulk pause | resume | cancel | pace <id>: what is to become of a bulk operation. */
import { BulkNotFoundError, bulkOrderOf } from '../../fleet/index.ts';
import type { BulkOrder } from '../../store/index.ts';
import type { Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import { mintBulk, requestIdOf, whoami } from '../fleet/acting.ts';
import { withStore } from '../fleet/open.ts';
import { rateOf } from './begin.ts';
import { bulkIdOf, find } from './find.ts';

type Order = BulkOrder['order'];
type Said = Readonly<Record<'done' | 'requested' | 'already', string>>;

function ordering(read: (options: Options) => Order, said: Said): Execute {
  return async ({ config, output }, options, text) => {
    const id = bulkIdOf(text);
    const order = read(options);
    const by = {
      requestId: requestIdOf(options['requestId']),
      who: whoami(),
      via: 'cli',
      isDryRun: options['dryRun'] === true,
    };
    return withStore(config, async (store) => {
      const answer = await store.orderBulk(bulkOrderOf(id, order, by, mintBulk));
      if (answer.kind === 'refused') {
        if (answer.why === 'unknown') throw new BulkNotFoundError(id);
        if (output.isJson)
          output.json({ bulk: id, what: order.what, answer: 'refused', ...answer });
        output.note(`${id} does not ${order.what}: ${answer.detail}`);
        return Exit.failure;
      }
      const { kind, isRepeated, isDryRun } = answer;
      const line = `${id} ${said[kind]}`;
      if (output.isJson) {
        const words = { answer: kind, isRepeated, isDryRun, requestId: by.requestId };
        output.json({ ...(await find(store, id)), ...words });
      } else if (isDryRun) output.note(`only tried: nothing was changed; otherwise: ${line}`);
      else output.line(line);
      return Exit.ok;
    });
  };
}

export const pause = ordering(() => ({ what: 'pause' }), {
  done: 'is paused',
  requested: 'pauses after what is in hand',
  already: 'is paused, or about to be',
});

export const resume = ordering(() => ({ what: 'resume' }), {
  done: 'goes on',
  requested: 'goes on',
  already: 'goes on anyway',
});

export const cancel = ordering(() => ({ what: 'cancel' }), {
  done: 'is cancelled; what was done stays done',
  requested: 'ends after what is in hand; what was done stays done',
  already: 'is cancelled, or about to be',
});

export const pace = ordering(
  (options) => {
    if (options['rate'] !== undefined) return { what: 'pace', rate: rateOf(options['rate']) };
    throw new UsageError('--rate is missing: tasks a second, like 200/s');
  },
  {
    done: 'has its new rate from the next page on',
    requested: 'has its new rate from the next page on',
    already: 'has that rate',
  },
);

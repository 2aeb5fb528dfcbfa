/** graphile-worker with its local queue, as its page on performance has it for many small jobs. */
import { openWith } from './graphile-worker.mjs';

export const open = openWith({
  localQueue: { size: 500 },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
});

/** A night's sleep, and a retry an hour later: days by its own clock. */
import { appendFileSync } from 'node:fs';
import { defineMachine } from 'fleetq';
import * as z from 'zod';

const HOUR_MS = 3_600_000;

export const sleepy = defineMachine({
  name: 'sleepy',
  version: 1,
  input: z.object({ file: z.string() }),
  retry: { attemptMax: 10, backoff: () => HOUR_MS },
  timeout: { work: '1m', run: '3d' },
  steps: (line) =>
    line.sleep('night', '8h').step('wake', {
      check: 'none',
      work: ({ input, attempt }) => {
        appendFileSync(input.file, `${attempt}\n`);
        if (attempt === 1) throw new Error('five more minutes');
        return 'awake';
      },
    }),
});

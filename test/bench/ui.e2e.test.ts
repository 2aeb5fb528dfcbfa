/** The bench of what people see, as small as it gets, in a real Chromium on a real Postgres. */
import { expect, test } from 'vitest';
import { benchUi } from '../../bench/ui.ts';
import { findChromium } from '../support/chromium.ts';

test.skipIf(findChromium() === undefined)(
  'rows, a long run and what is scrolled are timed in the browser',
  { timeout: 240_000 },
  async () => {
    const found = await benchUi({ rows: 2_000, events: 3_000, rounds: 1 });
    const scrolled = {
      pixels: expect.any(Number),
      longTasks: expect.any(Number),
      longestTaskMs: expect.any(Number),
      heapMb: expect.any(Number),
    };
    expect(found).toMatchObject({
      rows: 2_000,
      events: 3_000,
      firstRowsMs: { p50: expect.any(Number) },
      openRunMs: { p50: expect.any(Number) },
      list: scrolled,
      pouring: scrolled,
      log: scrolled,
    });
    const { list, log } = found as { list: { pixels: number }; log: { pixels: number } };
    expect(Math.min(list.pixels, log.pixels)).toBeGreaterThan(2_000);
  },
);

/** Permits on their way, where nobody asks for them. */
import { expect, test } from 'vitest';
import { Moves } from '../../src/throttle/fleet/moves.ts';

test('a limit that is fixed for days leaves no heap of moves behind', () => {
  const moves = new Moves();
  for (let fromMs = 0; fromMs < 9_600; fromMs++) {
    moves.add({ count: 1, fromMs, untilMs: fromMs + 10 });
  }
  expect(moves.size).toBeLessThanOrEqual(64);
  // What is on its way by then is counted as ever.
  expect(moves.between(9_590, 9_600)).toBe(19);
});

/** What limits and pauses of queues would do, in words; pure. */
import { expect, test } from 'vitest';
import { commandOf, effectsOf, type Wish } from '../../admin-ui/src/pages/queues/flow.ts';
import type { Queue } from '../../admin-ui/src/services/fleet-types.ts';

test('what a limit or a pause would do is said in words, and what is no limit is refused', () => {
  const queue: Queue = {
    queue: 'q',
    pending: 4,
    waiting: 0,
    claimed: 5,
    limit: 6,
    isPaused: false,
  };
  const told = (what: Wish['what'], limit = '') => effectsOf({ what, name: 'q', limit }, queue);
  expect(told('queue.limit', '3').effects).toEqual([
    'At most 3 tasks of it are claimed at once, in the whole fleet, instead of 6 now.',
    '5 are claimed: they go on, and nothing is added until 2 of them have ended.',
  ]);
  expect(told('queue.limit', '0').effects[0]).toBe(
    'Nothing more is claimed from it, instead of 6 now.',
  );
  expect(told('queue.limit').effects[0]).toBe('Its limit of 6 is taken away.');
  expect(told('queue.pause').effects).toContain('5 runs in hand: on to their end.');
  expect(told('queue.resume').effects).toContain('4 tasks pending, 6 at once at most.');
  for (const wrong of ['-1', '1.5', 'many', '1000001', '1e3']) {
    expect(told('queue.limit', wrong)).toMatchObject({
      effects: [],
      wrong: expect.stringContaining('whole number'),
    });
  }
  expect(effectsOf({ what: 'machine.pause', name: '', limit: '' }, undefined).wrong).toBeDefined();
  const commands = (['queue.limit', 'queue.resume', 'machine.pause'] as const).map((what) =>
    commandOf({ what, name: "o'q", limit: '' }),
  );
  expect(commands).toEqual([
    "fleetq queues limit 'o'\\''q' none",
    "fleetq queues resume 'o'\\''q'",
    "fleetq queues pause --machine 'o'\\''q'",
  ]);
});

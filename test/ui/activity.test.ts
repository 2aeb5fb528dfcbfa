/** A row of the activity log, as it is told in a line; pure. */
import { expect, test } from 'vitest';
import { noteOf } from '../../admin-ui/src/pages/activity/note.ts';

test('a row is told in a line, whatever was written into it', () => {
  const glimpse = { status: 'failed', revision: '1.1.0', isPaused: false };
  const told = noteOf('redrive', {
    kind: 'done',
    via: 'bulk:01J',
    before: glimpse,
    after: { status: 'pending', revision: '2.2.1', isPaused: true },
    isFresh: true,
    hasNewInput: false,
  });
  expect(told).toEqual({
    via: 'bulk:01J',
    bulk: '01J',
    text: 'failed → pending, paused · isFresh',
  });
  expect(noteOf('cancel', { kind: 'requested', reason: 'so' }).text).toBe(
    'its pod was asked · “so”',
  );
  expect(noteOf('bulk.pause', { bulk: '01K', via: 'api' })).toMatchObject({ bulk: '01K' });
  for (const odd of [null, undefined, 7, 'text', [1], { before: 5, after: [], via: {} }]) {
    expect(typeof noteOf('x', odd).text).toBe('string');
  }
});

/** What a command refuses before it looks anywhere: in words that say what was wanted. */
import { describe, expect, test } from 'vitest';
import { fleetq, usePlaces } from './in-process.ts';

const { makeDirectory } = usePlaces();
const START = ['start', 'm', '--input', '{"n":1}'];
const ID = '0'.repeat(26);

describe('a wrong argument is a usage error', () => {
  test.each<[string, string[], RegExp]>([
    ['an unknown status', ['runs', '--status', 'faild'], /--status .* got "faild"/],
    ['a limit below one', ['runs', '--limit', '0'], /--limit must be a whole number from 1 to 500/],
    ['a limit that is no number', ['runs', '--limit', 'all'], /got "all"/],
    ['a page before no run', ['runs', '--before', 'x'], /--before must be a run's id/],
    ['a run that is no id', ['run', 'nonsense'], /must be a run's id, 26 .* or a UUID/],
    ['events of no id', ['events', ''], /must be a run's id/],
    ['events after no number', ['events', ID, '--after', '1.5'], /--after must be/],
    ['cancel of no id', ['cancel', '../../etc'], /must be a run's id/],
    ['export of no id', ['journal', 'export', '--run', 'x'], /--run must be a run's id/],
    ['an empty key', [...START, '--key', ''], /--key must be text of 1 to 512/],
    ['a long key', [...START, '--key', 'k'.repeat(513)], /--key must be text/],
    ['a timeout that is none', [...START, '--wait', '--timeout', 'soon'], /--timeout/],
    ['a timeout without a wait', [...START, '--timeout', '1s'], /--wait is missing/],
    ['the same of a task', ['enqueue', ...START.slice(1), '--timeout', '1s'], /--wait is missing/],
    ['a device as a file', ['start', 'm', '--input', '@/dev/zero'], /\/dev\/zero is a device/],
    ['a file that is not there', ['start', 'm', '--input', '@/no/such'], /cannot be read: ENOENT/],
    ['a directory as a file', ['start', 'm', '--input', '@/'], /cannot be read: EISDIR/],
    [
      'a number too large',
      ['start', 'm', '--input', '{"n":1e999}'],
      /--input .* at n, Infinity is not/,
    ],
    [
      'nesting without end',
      ['start', 'm', '--input', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
      /--input .* nested deeper than 200 levels/,
    ],
    ['no store', ['pods'], /no store is configured/],
    ['no store to sweep', ['sweep'], /no store is configured/],
    ['no store to wait on', ['wait', ID], /no store is configured/],
    ['no store for dead letters', ['dead-letters', 'list'], /no store is configured/],
    ['no store to migrate', ['migrate', 'status'], /no store is configured/],
    ['no time to wait for', ['reschedule', ID], /--run-at is missing/],
    ['a time without its zone', ['reschedule', ID, '--run-at', '2030-01-31T12:00'], /zone/],
    ['pods without a store', ['worker', '--pods', '2'], /2 pods need a store to share/],
    ['no pods', ['worker', '--pods', '0'], /--pods must be a whole number from 1/],
    ['half an object', ['start', 'm', '--input', '{"n":'], /--input is not JSON/],
  ])('%s', async (_, args, message) => {
    const { code, stdout, stderr } = await fleetq(makeDirectory(), args);
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)]);
  });
});

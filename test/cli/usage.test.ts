/** What a command refuses before it looks anywhere: in words that say what was wanted. */
import { describe, expect, test } from 'vitest';
import { cancel } from '../../src/cli/cancel.ts';
import type { Execute } from '../../src/cli/command.ts';
import { events } from '../../src/cli/events.ts';
import { exitOf } from '../../src/cli/exit.ts';
import { list } from '../../src/cli/fleet/dead-letters.ts';
import { enqueue } from '../../src/cli/fleet/enqueue.ts';
import { status } from '../../src/cli/fleet/migrate.ts';
import { pods } from '../../src/cli/fleet/pods.ts';
import { reschedule } from '../../src/cli/fleet/reschedule.ts';
import { sweep } from '../../src/cli/fleet/sweep.ts';
import { wait } from '../../src/cli/fleet/wait.ts';
import { exportAll } from '../../src/cli/journal.ts';
import { Output } from '../../src/cli/output.ts';
import { run } from '../../src/cli/run.ts';
import { runs } from '../../src/cli/runs.ts';
import { start } from '../../src/cli/start.ts';
import { worker } from '../../src/cli/worker/worker.ts';
import { readConfig } from '../../src/config/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const quick = { input: '{"n":1}' };

describe('a wrong argument is a usage error', () => {
  test.each<[string, Execute, Record<string, string | boolean>, string[], RegExp]>([
    ['an unknown status', runs, { status: 'faild', limit: '5' }, [], /--status .* got "faild"/],
    ['a limit below one', runs, { limit: '0' }, [], /--limit must be a whole number from 1 to 500/],
    ['a limit that is no number', runs, { limit: 'all' }, [], /got "all"/],
    ['a page before no run', runs, { limit: '5', before: 'x' }, [], /--before must be a run's id/],
    ['a run that is no id', run, {}, ['nonsense'], /must be a run's id, 26 .* or a UUID/],
    ['events of no id', events, { after: '-1' }, [''], /must be a run's id/],
    ['events after no number', events, { after: '1.5' }, ['0'.repeat(26)], /--after must be/],
    ['cancel of no id', cancel, {}, ['../../etc'], /must be a run's id/],
    ['export of no id', exportAll, { run: 'x' }, [], /--run must be a run's id/],
    ['an empty key', start, { ...quick, key: '' }, ['m'], /--key must be text of 1 to 512/],
    ['a long key', start, { ...quick, key: 'k'.repeat(513) }, ['m'], /--key must be text/],
    [
      'a timeout that is none',
      start,
      { ...quick, wait: true, timeout: 'soon' },
      ['m'],
      /--timeout/,
    ],
    ['a timeout without a wait', start, { ...quick, timeout: '1s' }, ['m'], /--wait is missing/],
    ['the same of a task', enqueue, { ...quick, timeout: '1s' }, ['m'], /--wait is missing/],
    ['a device as a file', start, { input: '@/dev/zero' }, ['m'], /\/dev\/zero is a device/],
    ['a file that is not there', start, { input: '@/no/such' }, ['m'], /cannot be read: ENOENT/],
    ['a directory as a file', start, { input: '@/' }, ['m'], /cannot be read: EISDIR/],
    [
      'a number too large',
      start,
      { input: '{"n":1e999}' },
      ['m'],
      /--input .* at n, Infinity is not/,
    ],
    [
      'nesting without end',
      start,
      { input: `${'['.repeat(200_000)}${']'.repeat(200_000)}` },
      ['m'],
      /--input .* nested deeper than 200 levels/,
    ],
    ['no store', pods, {}, [], /no store is configured/],
    ['no store to sweep', sweep, {}, [], /no store is configured/],
    ['no store to wait on', wait, {}, ['0'.repeat(26)], /no store is configured/],
    ['no store for dead letters', list, { limit: '5' }, [], /no store is configured/],
    ['no store to migrate', status, {}, [], /no store is configured/],
    ['no time to wait for', reschedule, {}, ['0'.repeat(26)], /--run-at is missing/],
    [
      'a time without its zone',
      reschedule,
      { runAt: '2030-01-31T12:00' },
      ['0'.repeat(26)],
      /zone/,
    ],
    ['pods without a store', worker, { pods: '2' }, [], /2 pods need a store to share/],
    ['no pods', worker, { pods: '0' }, [], /--pods must be a whole number from 1/],
    ['half an object', start, { input: '{"n":' }, ['m'], /--input is not JSON/],
  ])('%s', async (_, execute, options, words, message) => {
    const config = await readConfig({ flags: { dataDir: newDir() }, env: {}, cwd: newDir() });
    const refused = execute({ config, output: new Output(true) }, options, ...words);
    await expect(refused).rejects.toThrow(message);
    await refused.catch((error) => expect(exitOf(error.code)).toBe(2));
  });
});

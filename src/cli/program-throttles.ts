/** The commands by which people look at the APIs that a fleet calls. */
import type { Command } from 'commander';
import { type Add, STORE_SETTINGS } from './add-command.ts';
import { DRY_RUN, REASON, REQUEST_ID } from './program-acts.ts';

export function addThrottles(program: Command, add: Add): void {
  const throttles = program
    .command('throttles')
    .helpCommand(false)
    .description('APIs that the fleet calls: what they take, who calls them, and their limits.');
  const load = () => import('./fleet/throttles.ts');
  add(
    'list',
    'List them, with how each is.',
    async () => (await load()).list,
    STORE_SETTINGS,
    throttles,
  );
  add(
    'show <api>',
    "Show one, with every pod's share.",
    async () => (await load()).showOne,
    STORE_SETTINGS,
    throttles,
  );
  add(
    'watch <api>',
    'Follow one: a line for each change.',
    async () => (await load()).watch,
    STORE_SETTINGS,
    throttles,
  ).option('--timeout <duration>', "how long, such as '30s'; for ever where nothing is said");
  add(
    'pin <api> <count|off>',
    'Fix its limit for the whole fleet, or let go of that.',
    async () => (await load()).pin,
    STORE_SETTINGS,
    throttles,
  )
    .option('--for <duration>', "for so long, such as '30m'; until let go of where nothing is said")
    .option(...REASON)
    .option(...DRY_RUN)
    .option(...REQUEST_ID);
  add(
    'reset <api>',
    'Forget what was found out about it, and begin anew.',
    async () => (await load()).reset,
    STORE_SETTINGS,
    throttles,
  )
    .option(...REASON)
    .option(...DRY_RUN)
    .option(...REQUEST_ID);
}

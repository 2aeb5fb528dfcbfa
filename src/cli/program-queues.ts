/** The commands by which people look at queues, bound them, and let them stand still. */
import type { Command } from 'commander';
import { type Add, STORE_SETTINGS } from './add-command.ts';
import { DRY_RUN, REASON, REQUEST_ID } from './program-acts.ts';

export function addQueues(program: Command, add: Add): void {
  const queues = program
    .command('queues')
    .helpCommand(false)
    .description('Queues: what is in them, how many may run at once, and which stand still.');
  const load = () => import('./fleet/queues.ts');
  add(
    'list',
    'List them, with machines that are paused.',
    async () => (await load()).list,
    STORE_SETTINGS,
    queues,
  );
  add('show <queue>', 'Show one.', async () => (await load()).showOne, STORE_SETTINGS, queues);
  add(
    'limit <queue> <count>',
    "Let at most so many of its tasks be claimed at once; 'none' takes the limit away.",
    async () => (await load()).limit,
    STORE_SETTINGS,
    queues,
  )
    .option(...REASON)
    .option(...DRY_RUN)
    .option(...REQUEST_ID)
    .addHelpText('after', LIMIT_HELP);
  for (const what of ['pause', 'resume'] as const) {
    add(
      `${what} [queue]`,
      what === 'pause' ? 'Let nobody take anything from it.' : 'Let it go on.',
      async () => (await load())[what],
      STORE_SETTINGS,
      queues,
    )
      .option('--machine <name>', 'a machine, whatever queue its tasks are in')
      .option(...REASON)
      .option(...DRY_RUN)
      .option(...REQUEST_ID);
  }
}

const LIMIT_HELP = `
The limit is of the whole fleet, and is never exceeded: what is claimed when it is lowered stays claimed,
and nothing is added until there is room. Runs that sleep or back off do not count meanwhile.

Examples:
  fleetq queues limit reports 5
  fleetq queues limit reports none
`;

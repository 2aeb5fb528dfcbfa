/** The commands by which people change many tasks at once. */
import type { Command } from 'commander';
import { type Add, LOOK_SETTINGS, STORE_SETTINGS } from './add-command.ts';
import { LIMIT_OTHERWISE } from './next-page.ts';
import { CURSOR, DRY_RUN, REQUEST_ID } from './program-acts.ts';

export function addBulk(program: Command, add: Add): void {
  const bulk = program
    .command('bulk')
    .helpCommand(false)
    .description('Do something to every task that a filter finds, at a bounded rate.');
  add(
    'begin <what> [filter...]',
    'Begin: cancel, pause, resume, retry, reschedule, redrive or discard.',
    async () => (await import('./bulk/begin.ts')).begin,
    STORE_SETTINGS,
    bulk,
  )
    // A term that begins with a minus is no option.
    .allowUnknownOption()
    .option('--rate <rate>', 'tasks a second, like 50/s, which it is where nothing is said')
    .option('--limit <count>', 'no more tasks than these')
    .option('--reason <text>', 'of cancel: why, for whoever looks at them later')
    .option('--run-at <when>', "of reschedule: after a duration such as '10m', or at a time")
    .option('--fresh', 'of redrive: from their beginning, with new idempotency keys')
    .option('--yes', 'cancel or discard without asking, for scripts')
    .option('--wait', 'wait until it is over')
    .option('--timeout <duration>', "how long --wait waits, such as '30s'")
    .option(...DRY_RUN)
    .option(...REQUEST_ID)
    .addHelpText('after', BEGIN_HELP);
  const look = () => import('./bulk/look.ts');
  add('list', 'List them, newest first.', async () => (await look()).list, LOOK_SETTINGS, bulk)
    .option('--limit <count>', 'at most so many', LIMIT_OTHERWISE)
    .option(...CURSOR);
  add(
    'show <id>',
    'Show one: how far it is, and what refused.',
    async () => (await look()).showOne,
    LOOK_SETTINGS,
    bulk,
  );
  add(
    'watch <id>',
    'Follow one until it is over.',
    async () => (await import('./bulk/watch.ts')).watch,
    STORE_SETTINGS,
    bulk,
  ).option('--timeout <duration>', "how long, such as '30s'; for ever where nothing is said");
  addOrders(add, bulk);
}

function addOrders(add: Add, bulk: Command): void {
  const load = () => import('./bulk/order.ts');
  const order = (what: 'pause' | 'resume' | 'cancel' | 'pace', about: string) =>
    add(`${what} <id>`, about, async () => (await load())[what], STORE_SETTINGS, bulk)
      .option(...DRY_RUN)
      .option(...REQUEST_ID);
  order('pause', 'Stop after what is in hand.');
  order('resume', 'Go on; also where its run has ended without it.');
  order('cancel', 'End after what is in hand; what was done stays done.');
  order('pace', 'Change how many tasks a second.').option('--rate <rate>', 'such as 200/s');
}

const BEGIN_HELP = `
It goes on in the fleet, whatever becomes of this command: a pod works it off, another one takes over
where that dies, each task is changed once and counted once. Tasks that come later are not touched, nor
are the fleet's own. cancel and discard ask for the number of tasks first.
docs/reference/filter.md has all terms of a filter.

Examples:
  fleetq bulk begin redrive machine:hello is:dead-letter --dry-run
  fleetq bulk begin cancel machine:hello status:pending --rate 200/s --reason 'wrong input'
`;

/** The commands by which people look at schedules, and change them. */
import type { Command } from 'commander';
import { type Add, LOOK_SETTINGS, STORE_SETTINGS } from './add-command.ts';
import { LIMIT_OTHERWISE } from './next-page.ts';
import { CURSOR, DRY_RUN, REASON, REQUEST_ID } from './program-acts.ts';

export function addSchedules(program: Command, add: Add): void {
  const schedules = program
    .command('schedules')
    .helpCommand(false)
    .description('Run a machine again and again: look at schedules, and change them.');
  const look = () => import('./schedules/look.ts');
  const load = async (what: 'list' | 'showOne' | 'next') => (await look())[what];
  add('list', 'List them, by name.', () => load('list'), LOOK_SETTINGS, schedules)
    .option('--limit <count>', 'at most so many', LIMIT_OTHERWISE)
    .option(...CURSOR);
  add(
    'show <name>',
    'Show one, a removed one too.',
    () => load('showOne'),
    LOOK_SETTINGS,
    schedules,
  );
  add(
    'next [name]',
    'Show the next ticks of a schedule, or of --cron.',
    () => load('next'),
    LOOK_SETTINGS,
    schedules,
  )
    .option('--count <count>', 'so many', '5')
    .option('--cron <expression>', 'instead of a schedule: what it would be, without any store')
    .option('--zone <zone>', 'of --cron; UTC where nothing is said');
  add(
    'set <name> <machine>',
    'Make a schedule, or change what one says.',
    async () => (await import('./schedules/set.ts')).set,
    [...STORE_SETTINGS, 'machines'],
    schedules,
  )
    .option('--cron <expression>', "when: minute, hour, day, month, weekday; or '@daily'")
    .option('--zone <zone>', 'the time zone, such as Europe/Berlin; UTC where nothing is said')
    .option('--input <json|@file|->', 'the input: JSON, @ and a file, or - for stdin')
    .option('--tick-as <property>', 'the property of the input that is given the tick')
    .option('--missed <what>', 'of ticks while no pod was up: skip, one or all', 'one')
    .option(
      '--overlap <what>',
      'of ticks while the run before has not ended: allow or skip',
      'allow',
    )
    .option('--jitter <duration>', "put each run off by up to so much, such as '30s'")
    .option('--priority <number>', 'higher goes first; 0 where nothing is said')
    .option('--queue <name>', "'default' where nothing is said")
    .option(...REASON)
    .option(...DRY_RUN)
    .option(...REQUEST_ID)
    .addHelpText('after', SET_HELP);
  addOrders(add, schedules);
}

function addOrders(add: Add, schedules: Command): void {
  const load = () => import('./schedules/order.ts');
  const order = (what: 'pause' | 'resume' | 'remove', about: string) =>
    add(`${what} <name>`, about, async () => (await load())[what], STORE_SETTINGS, schedules)
      .option(...REASON)
      .option(...DRY_RUN)
      .option(...REQUEST_ID);
  order('pause', 'Let it tick no more until it is resumed.');
  order('resume', 'Let it go on, with the next tick from now.');
  order('remove', 'Let it tick no more; code that declares it does not bring it back.');
  add(
    'run <name>',
    'Put one run in now, beside its ticks.',
    async () => (await import('./schedules/run.ts')).run,
    [...STORE_SETTINGS, 'machines'],
    schedules,
  )
    .option(...REASON)
    .option(...DRY_RUN)
    .option(...REQUEST_ID)
    .addHelpText('after', RUN_HELP);
}

const RUN_HELP = `
Its ticks stay as they are, and a paused one stays paused. The machine must be among those here. Where the
schedule has one run at a time (--overlap skip) and that has not ended, it is refused.

Example:
  fleetq schedules run nightly --reason 'the import was late'
`;

const SET_HELP = `
Any pod that has the machine puts the runs in; each has the key schedule/<name>/<tick>. A time that
daylight saving leaves out comes at the end of the gap, and one that it shows twice comes once; what comes
every so often goes by the clock that people see. docs/how-to/run-on-a-schedule.md says more.

Examples:
  fleetq schedules set nightly hello --cron '30 2 * * *' --zone Europe/Berlin --input '{"name":"Ada"}'
  fleetq schedules next --cron '0 9 * * 1-5' --zone America/St_Johns
`;

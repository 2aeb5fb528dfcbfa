/** The commands by which people change a task, and the log of what they have changed. */
import { type Add, LOOK_SETTINGS, STORE_SETTINGS } from './add-command.ts';

import { LIMIT_OTHERWISE } from './next-page.ts';

/** What every change understands. */
export const DRY_RUN = ['--dry-run', 'only say what would be done'] as const;
export const IF_REVISION = [
  '--if-revision <revision>',
  'only if the task is still like this: 1.4, or a generation',
] as const;
export const CURSOR = ['--cursor <cursor>', 'the next page: what the one before has told'] as const;
export const REASON = ['--reason <text>', 'for whoever reads the audit log'] as const;
export const REQUEST_ID = [
  '--request-id <id>',
  'sent again under the same id it is done once, and answered the same',
] as const;

export function addActs(add: Add): void {
  const load = () => import('./fleet/pause.ts');
  const change = (usage: string, about: string, act: 'pause' | 'resume' | 'retry') =>
    add(usage, about, async () => (await load())[act], STORE_SETTINGS)
      .option(...DRY_RUN)
      .option(...IF_REVISION)
      .option(...REQUEST_ID);
  change('pause <task>', 'Let nobody go on with a task until it is resumed.', 'pause');
  change('resume <task>', 'Let a task that was paused go on.', 'resume');
  change('retry <task>', 'Go on with a task now, and not when its wait is over.', 'retry');
  add(
    'fork <run>',
    'Make a new task that goes on from a phase of another one.',
    async () => (await import('./fleet/fork.ts')).fork,
    [...STORE_SETTINGS, 'machines'],
  )
    .option('--from <step.phase>', 'the first phase that it performs, such as main.work')
    .option('--input <json|@file|->', 'another input: JSON, @ and a file, or - for stdin')
    .option('--set <path=value...>', 'change a value of its input, such as order.count=2')
    .option(...DRY_RUN)
    .option(...IF_REVISION)
    .option(...REQUEST_ID)
    .addHelpText('after', FORK_HELP);
  add(
    'audit',
    'List what people have changed, newest first.',
    async () => (await import('./fleet/audit.ts')).audit,
    LOOK_SETTINGS,
  )
    .option('--task <task>', 'only changes of this task')
    .option('--who <name>', 'only changes by this one')
    .option('--what <deed>', 'only changes of this kind, such as cancel or redrive')
    .option('--limit <count>', 'at most so many', LIMIT_OTHERWISE)
    .option(...CURSOR);
}

const FORK_HELP = `
The new task begins with the records of the other one up to where it first came to that phase. It has
idempotency keys of its own. Its first record says where it comes from.

Examples:
  fleetq fork 01JCQ8… --from main.work
  fleetq fork 01JCQ8… --from charge.work --set amount=12 --dry-run
`;

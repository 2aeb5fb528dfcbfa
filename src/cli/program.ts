/**
 * The commands and their options, as `--help` shows them. What a command does is in a file of its
 * own, which is imported only when that command is called.
 */
import { Command, Option } from 'commander';
import { flagOf, SETTING_NAMES, type SettingName, version } from '../config/index.ts';
import type { Execute, Options } from './command.ts';
import { EXIT_HELP, type ExitCode } from './exit.ts';
import { Output } from './output.ts';

const SETTINGS: Partial<Record<SettingName, readonly [value: string, about: string]>> = {
  dataDir: ['<path>', 'where the journal is (default ./.fleetq)'],
  machines: ['<path>', 'a file or directory with machines (default ./machines, else the shipped)'],
  slots: ['<count>', 'how many runs are executed at once'],
  logLevel: ['<level>', 'debug, info, warn, error or silent'],
  drainBudget: ['<duration>', "how long phases may take to finish at the end, such as '25s'"],
};

export function buildProgram(exit: (code: ExitCode) => void): Command {
  const program = new Command('fleetq')
    .description('Durable state machines: runs that survive SIGKILL at any instant.')
    .version(version(), '-V, --version')
    .exitOverride()
    .showHelpAfterError('(try --help)')
    .addHelpText('after', EXIT_HELP)
    .helpCommand(false);

  const add: Add = (usage, about, load, settings = ['dataDir'], parent = program) => {
    const command = parent.command(usage).description(about);
    for (const name of settings) {
      const [value, text] = SETTINGS[name]!;
      command.addOption(new Option(`${flagOf(name)} ${value}`, text));
    }
    command.option('--json', 'JSON on stdout, for programs');
    return command.action(async (...args: unknown[]) => {
      const words = args.slice(0, -2) as string[];
      const options = args.at(-2) as Options;
      exit(await run(await load(), options, words));
    });
  };

  add(
    'dev',
    'Run sample machines in a worker process, show them, and kill it if you like.',
    async () => (await import('./dev/dev.ts')).dev,
    ['dataDir', 'machines', 'slots', 'logLevel', 'drainBudget'],
  ).addHelpText('after', DEV_HELP);

  add(
    'start <machine>',
    'Start a run of the newest version of a machine.',
    async () => (await import('./start.ts')).start,
    ['dataDir', 'machines'],
  )
    .option('--input <json|@file|->', 'the input: JSON, @ and a file, or - for stdin', 'null')
    .option('--key <key>', 'starts with one key and input are one run')
    .option('--wait', 'wait until it has ended, and print its output')
    .option('--timeout <duration>', "how long --wait waits, such as '30s'")
    .addHelpText('after', START_HELP);

  add('runs', 'List runs, newest first.', async () => (await import('./runs.ts')).runs)
    .option('--status <status>', 'only runs of this status, such as active, failed or completed')
    .option('--machine <name>', 'only runs of this machine')
    .option('--limit <count>', 'at most so many', '50')
    .option('--before <run>', 'only runs older than this one: the next page')
    .addHelpText('after', RUNS_HELP);

  add('run <id>', 'Show one run.', async () => (await import('./run.ts')).run);

  add(
    'events <run>',
    "Show a run's records, oldest first.",
    async () => (await import('./events.ts')).events,
  )
    .option('--follow', 'go on until the run has ended, also over restarts of its process')
    .option('--after <seq>', 'only records after this number', '-1');

  add(
    'cancel <run>',
    'Cancel a run, in whatever state it is.',
    async () => (await import('./cancel.ts')).cancel,
    ['dataDir', 'machines'],
  ).option('--reason <text>', 'why, for whoever looks at it later');

  addJournal(program, add);

  add(
    'doctor',
    'Check Node, SQLite, the data directory, the configuration and the machines.',
    async () => (await import('./doctor.ts')).doctor,
    ['dataDir', 'machines'],
  );
  return program;
}

type Add = (
  usage: string,
  about: string,
  load: () => Promise<Execute>,
  settings?: readonly SettingName[],
  parent?: Command,
) => Command;

function addJournal(program: Command, add: Add): void {
  const journal = program
    .command('journal')
    .helpCommand(false)
    .description('Look at a journal that no process holds, without changing it.');
  const load = () => import('./journal.ts');
  const only: readonly SettingName[] = ['dataDir'];
  add(
    'verify',
    'Read all of it: checksums, chains, seals, timers. Exit 1 where something is wrong.',
    async () => (await load()).verify,
    only,
    journal,
  );
  add('inspect', 'Count what is in it.', async () => (await load()).inspect, only, journal);
  add(
    'export',
    'Write its runs with their records, one JSON object a line, newest first.',
    async () => (await load()).exportAll,
    only,
    journal,
  ).option('--run <id>', 'only this run');
}

async function run(execute: Execute, options: Options, words: string[]): Promise<ExitCode> {
  const output = new Output(options['json'] === true);
  try {
    const { readConfig } = await import('../config/index.ts');
    const flags = Object.fromEntries(SETTING_NAMES.map((name) => [name, options[name]]));
    const config = await readConfig({ flags, env: process.env, cwd: process.cwd() });
    return await execute({ config, output }, options, ...words);
  } catch (error) {
    return output.failure(error);
  }
}

const DEV_HELP = `
On a terminal: k kills the worker process with SIGKILL, s starts more sample runs, q drains and quits.
Without one it prints a line for every run that ends, until SIGTERM or Ctrl-C.
`;
const START_HELP = `
With no process on the data directory the run is started in the file: --wait executes it here, to its
end; without it the run waits for the next process.

Examples:
  fleetq start hello --input '{"name":"Ada"}' --wait
  fleetq start image/install --input @image.json --key my-image-1
`;
const RUNS_HELP = `
Examples:
  fleetq runs --status failed
  fleetq runs --machine hello --limit 5 --json
`;

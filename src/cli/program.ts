/**
 * The commands and their options, as `--help` shows them. What a command does is in a file of its
 * own, which is imported only when that command is called.
 */
import { Command, type OutputConfiguration } from 'commander';
import { type SettingName, version } from '../config/index.ts';
import { type Add, addingTo, LOOK_SETTINGS, STORE_SETTINGS } from './add-command.ts';
import { EXIT_HELP, type ExitCode } from './exit.ts';
import { type Io, type OutStream, processIo } from './io.ts';
import { LIMIT_OTHERWISE } from './next-page.ts';
import { CURSOR, DRY_RUN, IF_REVISION, REQUEST_ID } from './program-acts.ts';
import { addAdmin } from './program-admin.ts';
import { addFleet } from './program-fleet.ts';
import { addSink } from './program-sink.ts';

export function buildProgram(exit: (code: ExitCode) => void, io: Io = processIo()): Command {
  const program = new Command('fleetq')
    .description(
      'Durable state machines: runs that survive SIGKILL at any instant, on one host or on many.',
    )
    .version(version(), '-V, --version')
    .configureOutput(toCommander(io))
    .exitOverride()
    .showHelpAfterError('(try --help)')
    .addHelpText('after', EXIT_HELP)
    .helpCommand(false);

  const add = addingTo(program, exit, io);

  add(
    'dev',
    'Run three pods with sample tasks, show them, and kill one if you like.',
    async () => (await import('./dev/dev.ts')).dev,
    ['dataDir', 'machines', 'slots', 'silence', 'listen', 'logLevel', 'drainBudget'],
  )
    .option('--postgres <url>', 'share this Postgres, whose tables are made')
    .addHelpText('after', DEV_HELP);

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

  add(
    'runs [filter...]',
    'List runs, newest first: tasks of the fleet where a store is configured.',
    async () => (await import('./runs.ts')).runs,
    ['dataDir', ...LOOK_SETTINGS],
  )
    // A term that begins with a minus is no option.
    .allowUnknownOption()
    .option('--status <status>', 'only runs of this status, such as active, failed or completed')
    .option('--machine <name>', 'only runs of this machine')
    .option('--limit <count>', 'at most so many', LIMIT_OTHERWISE)
    .option('--before <run>', 'only runs older than this one')
    .option(...CURSOR)
    .option('--local', LOCAL)
    .addHelpText('after', RUNS_HELP);

  add('run [id]', 'Show one run.', async () => (await import('./run.ts')).run, [
    'dataDir',
    ...LOOK_SETTINGS,
  ])
    .option('--file <path>', FROM_FILE)
    .option('--local', LOCAL);

  add(
    'events [run]',
    "Show a run's records, oldest first.",
    async () => (await import('./events.ts')).events,
    ['dataDir', ...LOOK_SETTINGS],
  )
    .option('--follow', 'go on until the run has ended, also over restarts of its process')
    .option('--after <seq>', 'only records after this number', '-1')
    .option('--trace', 'draw them as a tree: attempts, crashes, waits and pods, with their times')
    .option('--file <path>', FROM_FILE)
    .option('--generation <number>', 'of a file, the records of an earlier generation')
    .option('--local', LOCAL)
    .addHelpText('after', EVENTS_HELP);

  add(
    'explain <run>',
    'Say why a run does not run, how it ended, and why a phase of it ran twice.',
    async () => (await import('./explain.ts')).explainRun,
    ['dataDir', 'machines', ...STORE_SETTINGS, 'silence'],
  ).option('--local', LOCAL);

  add(
    'export <run>',
    'Write one run into a file: what is known of it, and the records of all its generations.',
    async () => (await import('./export.ts')).exportRun,
    ['dataDir', 'machines', ...STORE_SETTINGS],
  )
    .option('--out <file>', 'where to; <run>.run.json where nothing is said, - for stdout')
    .option('--force', 'write over a file that is there')
    .option('--local', LOCAL)
    .addHelpText('after', EXPORT_HELP);

  add(
    'cancel <run>',
    'Cancel a run, in whatever state it is.',
    async () => (await import('./cancel.ts')).cancel,
    ['dataDir', 'machines', ...STORE_SETTINGS],
  )
    .option('--reason <text>', 'why, for whoever looks at it later')
    .option(...DRY_RUN)
    .option(...IF_REVISION)
    .option(...REQUEST_ID)
    .option('--local', LOCAL);

  addFleet(program, add);
  addSink(add);

  addAdmin(program, add);

  addJournal(program, add);
  addCodec(program, add);

  add(
    'doctor',
    'Check Node, SQLite, the data directory, the configuration and the machines.',
    async () => (await import('./doctor.ts')).doctor,
    ['dataDir', 'machines', 'pooled'],
  ).option('--store [address]', 'check the store too: schema, clock, latency, hints, rules');

  add(
    'completion <shell>',
    'Print a script that completes commands and options in bash, zsh or fish.',
    async () => (await import('./completion/completion.ts')).completion,
    [],
  ).addHelpText('after', COMPLETION_HELP);
  return program;
}

/** Where Commander writes help and its own errors, and how wide. */
function toCommander({ stdout, stderr }: Io): OutputConfiguration {
  const widthOf = ({ isTTY, columns }: OutStream) => (isTTY ? columns : undefined) as number;
  return {
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
  };
}

function addCodec(program: Command, add: Add): void {
  const codec = program
    .command('codec')
    .helpCommand(false)
    .description('Keys that seal payloads, results and errors.');
  add(
    'new-key',
    'Print a new key, as a line for the file of keys.',
    async () => (await import('./codec.ts')).newKey,
    [],
    codec,
  ).option('--id <id>', 'what the key is called (default k and the date)');
}

function addJournal(program: Command, add: Add): void {
  const journal = program
    .command('journal')
    .helpCommand(false)
    .description('Look at a journal that no process holds, or make a copy of one the original.');
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
  add(
    'adopt',
    'Say that the journal this is a copy or a clone of is gone for good: its runs go on here.',
    async () => (await load()).adopt,
    only,
    journal,
  );
}

const FROM_FILE = 'read it from a file that fleetq export has written, and ask nobody';
const LOCAL = "only runs of this host's journal, whatever store is configured";
const DEV_HELP = `
The pods share a store of their own, <data-dir>/fleet.db, or the Postgres of --postgres. When a machine is
saved, the pods get the new code one after the other, and go on with what is under way. On a terminal: d does
that too, k kills a pod with SIGKILL, s enqueues more samples, t has the API that the sample llm/summarise
calls answer 429 to everything, or take calls again, q drains and quits. Without one it prints a line for
everything that happens, until SIGTERM or Ctrl-C. Exit 1 if a task was lost or doubled.
`;
const START_HELP = `
With no process on the data directory the run is started in the file: --wait executes it here, to its
end; without it the run waits for the next process.

Examples:
  fleetq start hello --input '{"name":"Ada"}' --wait
  fleetq start image/install --input @image.json --key my-image-1
`;
const EVENTS_HELP = `
Examples:
  fleetq events 01JCQ8… --follow
  fleetq events 01JCQ8… --trace
  fleetq events 01JCQ8… --trace --json
`;
const EXPORT_HELP = `
The file holds inputs, outputs and errors, and only its owner may read it. Whoever gets it looks at it
offline; a file that was changed is refused, with the record that does not fit.

Examples:
  fleetq export 01JCQ8… --out broken.run.json
  fleetq run --file broken.run.json
  fleetq events --file broken.run.json --trace
`;
const COMPLETION_HELP = `
Examples:
  eval "$(fleetq completion bash)"
  fleetq completion zsh > ~/.zsh/completions/_fleetq
  fleetq completion fish > ~/.config/fish/completions/fleetq.fish
`;
const RUNS_HELP = `
All terms of a filter have to hold; docs/reference/filter.md has all of them. What a shell would take for
its own (<, >, *, quotes) is quoted.

Examples:
  fleetq runs status:failed machine:hello
  fleetq runs 'created:<2h retries:>=3 -queue:slow "no such bucket"'
  fleetq runs --status failed
  fleetq runs --machine hello --limit 5 --json
`;

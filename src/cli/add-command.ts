/** How a command is added to the program: its settings as options, and its file loaded when called. */
import { type Command, Option } from 'commander';
import { flagOf, SETTING_NAMES, type SettingName } from '../config/index.ts';
import { redactor } from '../ground/index.ts';
import type { Execute, Options } from './command.ts';
import type { ExitCode } from './exit.ts';
import type { Io } from './io.ts';
import { Output } from './output.ts';

const SETTINGS: Partial<Record<SettingName, readonly [value: string, about: string]>> = {
  dataDir: ['<path>', 'where the journal is (default ./.fleetq)'],
  store: ['<address>', 'what pods share, like postgres://user@host/database or sqlite:./fleet.db'],
  readStore: ['<address>', 'a replica of the store, for what people ask alone'],
  machines: ['<path>', 'a file or directory with machines (default ./machines)'],
  slots: ['<count>', 'how many runs are executed at once'],
  podName: ['<name>', "for people (default the host's name)"],
  heartbeat: ['<duration>', "how often a pod says that it is there, such as '3s'"],
  silence: ['<duration>', 'after so long without a heartbeat a pod is taken for dead'],
  archive: ['<duration>', 'how often records of runs in hand go to the store'],
  pooled: ['', 'the way to the store goes through a pooler in transaction mode'],
  listenUrl: ['<address>', 'a way to the same Postgres around the pooler, for hints alone'],
  changedMachines: ['<what>', 'refuse, or warn where a machine changed under its version'],
  claimMode: ['<mode>', 'skip-locked, or cas where that cannot be trusted'],
  poolSize: ['<count>', 'connections to the store for its calls (default 8)'],
  healthListen: ['<host:port>', 'where /livez, /readyz and /metrics are answered'],
  listen: [
    '<host:port>',
    'where people and programs are answered; others than loopback want tokens',
  ],
  logLevel: ['<level>', 'debug, info, warn, error or silent'],
  handover: ['<duration>', 'take over from the process that holds the directory; wait so long'],
  drainBudget: ['<duration>', "how long phases may take to finish at the end, such as '25s'"],
};

/** What every command needs that asks the store. */
export const STORE_SETTINGS: readonly SettingName[] = ['store', 'pooled'];

/** Of those that only look. */
export const LOOK_SETTINGS: readonly SettingName[] = ['store', 'readStore', 'pooled'];

export type Add = (
  usage: string,
  about: string,
  load: () => Promise<Execute>,
  settings?: readonly SettingName[],
  parent?: Command,
) => Command;

export function addingTo(program: Command, exit: (code: ExitCode) => void, io: Io): Add {
  return (usage, about, load, settings = ['dataDir'], parent = program) => {
    const command = parent.command(usage).description(about);
    for (const name of settings) {
      const [value, text] = SETTINGS[name]!;
      command.addOption(new Option(`${flagOf(name)} ${value}`.trimEnd(), text));
    }
    command.option('--json', 'JSON on stdout, for programs');
    return command.action(async (...args: unknown[]) => {
      const words = args.slice(0, -2) as string[];
      const options = args.at(-2) as Options;
      exit(await run(await load(), options, words, io));
    });
  };
}

async function run(execute: Execute, options: Options, words: string[], io: Io): Promise<ExitCode> {
  const output = new Output(options['json'] === true, io);
  try {
    const { readConfig } = await import('../config/index.ts');
    const flags = Object.fromEntries(SETTING_NAMES.map((name) => [name, flagText(options[name])]));
    // `doctor --store` may name the store, or mean the one that is configured.
    if (options['store'] === true) delete flags['store'];
    const config = await readConfig({ flags, env: io.env, cwd: io.cwd });
    output.redact = redactor(config.redact);
    return await execute({ config, output, io }, options, ...words);
  } catch (error) {
    return output.failure(error);
  }
}

function flagText(value: string | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

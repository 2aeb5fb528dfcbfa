/**
 * Flags, environment, config file and defaults become one frozen Config, which remembers where each
 * value came from: the first of these that says something wins.
 */
import { resolve } from 'node:path';
import { parseDuration, showDuration } from '../ground/index.ts';
import { readConfigFile } from './config-file.ts';
import { ConfigError } from './errors.ts';
import {
  defaultOf,
  flagOf,
  readSetting,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  variableOf,
} from './settings.ts';

export type Flags = Readonly<Partial<Record<SettingName, string | undefined>>>;

export interface Config extends Settings {
  /** The directory that relative paths start from: where the command was called. */
  readonly cwd: string;
  /** Where each value came from, in words: 'flag --slots', 'FLEETQ_SLOTS', a file, 'default'. */
  readonly sources: Readonly<Record<SettingName, string>>;
  /** Variables that look like ours and mean nothing. */
  readonly unknownVariables: readonly string[];
}

export interface ConfigPlaces {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

export async function readConfig({ flags, env, cwd }: ConfigPlaces): Promise<Config> {
  const file = await readConfigFile(cwd);
  const values: Partial<Record<SettingName, unknown>> = {};
  const sources: Partial<Record<SettingName, string>> = {};
  for (const name of SETTING_NAMES) {
    const candidates = [
      { value: flags[name], source: `flag ${flagOf(name)}` },
      // An empty variable is how shells and container specs say "not set".
      { value: env[variableOf(name)] || undefined, source: variableOf(name) },
      { value: file?.values[name], source: file?.path ?? '' },
    ];
    const found = candidates.find(({ value }) => value !== undefined);
    values[name] = found
      ? readSetting(name, found.value, whereOf(name, found.source))
      : defaultOf(name);
    sources[name] = found?.source ?? 'default';
  }
  const settings = values as unknown as Settings;
  checkRelations(settings);
  return Object.freeze({
    ...settings,
    ...pathsFrom(cwd, settings),
    cwd,
    sources: Object.freeze(sources as Record<SettingName, string>),
    unknownVariables: unknownVariables(env),
  });
}

/** A path that the caller typed in `cwd`; unchanged where that is the directory of the process. */
export function pathFrom(cwd: string, path: string): string {
  return cwd === process.cwd() ? path : resolve(cwd, path);
}

function pathsFrom(cwd: string, { dataDir, codecKeysFile, store, readStore }: Settings) {
  const file = (path: string | undefined) => path && pathFrom(cwd, path);
  const address = (url: string | undefined) =>
    url?.replace(/^(sqlite:)([^/].*)$/is, (_, scheme, path) => `${scheme}${pathFrom(cwd, path)}`);
  return {
    dataDir: pathFrom(cwd, dataDir),
    codecKeysFile: file(codecKeysFile),
    store: address(store),
    readStore: address(readStore),
  };
}

/** Values that are fine alone may not fit together; a store's own times are checked by its pod. */
function checkRelations({ heartbeat, silence, codec, codecKeysFile }: Settings): void {
  if (codec !== undefined && codecKeysFile !== undefined) {
    throw new ConfigError('there are keys both in FLEETQ_CODEC_KEYS, or codec, and in a file', {
      hint: 'keep one of them: codec or codecKeysFile',
    });
  }
  const heartbeatMs = heartbeat === undefined ? undefined : parseDuration(heartbeat);
  const silentMs = silence === undefined ? undefined : parseDuration(silence);
  if (heartbeatMs === undefined || silentMs === undefined || silentMs >= 3 * heartbeatMs) return;
  throw new ConfigError(
    `silence (${silence}) must outlast three heartbeats (of ${heartbeat}), ` +
      'or the sweep takes live pods for dead',
    { hint: `set silence to ${showDuration(3 * heartbeatMs)} or more` },
  );
}

function whereOf(name: SettingName, source: string): string {
  return source.startsWith('flag ')
    ? source.slice(5)
    : source.includes('/')
      ? `${name} in ${source}`
      : source;
}

/** Set by FleetQ for its own processes, or read by tests. */
const OTHER_VARIABLES = /^FLEETQ_(TEST|DEV)_/;

function unknownVariables(env: ConfigPlaces['env']): string[] {
  const known = new Set(SETTING_NAMES.map(variableOf));
  return Object.keys(env).filter(
    (name) => name.startsWith('FLEETQ_') && !known.has(name) && !OTHER_VARIABLES.test(name),
  );
}

/** fleetq.config.{ts,js,json}: the settings of a project, beside its package.json. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describeError, nearest, show } from '../ground/index.ts';
import { ConfigError, LoadError } from './errors.ts';
import { loadModule } from './load-module.ts';
import { SETTING_NAMES, type SettingName } from './settings.ts';

const FILE_NAMES = ['ts', 'mts', 'js', 'mjs', 'json'].map((kind) => `fleetq.config.${kind}`);
const PATHS: readonly SettingName[] = ['dataDir', 'machines', 'codecKeysFile'];

export interface ConfigFile {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The config file in `directory`; undefined where there is none. */
export async function readConfigFile(directory: string): Promise<ConfigFile | undefined> {
  const found = FILE_NAMES.map((name) => join(directory, name)).filter((path) => existsSync(path));
  const [path, rival] = found;
  if (path === undefined) return undefined;
  if (rival !== undefined) {
    throw new ConfigError(`there are two config files, ${path} and ${rival}`, {
      hint: 'keep one of them',
    });
  }
  const content = path.endsWith('.json') ? readJson(path) : await readExports(path);
  return { path, values: fromFile(path, content) };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new LoadError(`${path} is not JSON: ${describeError(cause).message}`, { cause });
  }
}

async function readExports(path: string): Promise<unknown> {
  const exported = await loadModule(path);
  // A TypeScript file of a CommonJS project comes with its exports inside `default`.
  const inner = exported['default'] as Record<string, unknown> | undefined;
  return exported['config'] ?? inner?.['config'] ?? inner?.['default'] ?? inner;
}

function fromFile(path: string, content: unknown): Record<string, unknown> {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ConfigError(`${path} must hold an object with settings, got ${show(content)}`, {
      hint: 'for example: export default { slots: 16, machines: "./machines" }',
    });
  }
  const values: Record<string, unknown> = { ...content };
  for (const name of Object.keys(values)) {
    if (SETTING_NAMES.includes(name as SettingName)) continue;
    const near = nearest(name, SETTING_NAMES);
    throw new ConfigError(`${path} has an unknown setting ${show(name)}`, {
      hint: near ? `did you mean ${near}?` : `there are: ${SETTING_NAMES.join(', ')}`,
    });
  }
  // Paths in a file are meant from where the file is.
  for (const name of PATHS) {
    const value = values[name];
    if (typeof value === 'string' && value !== '') values[name] = resolve(dirname(path), value);
  }
  return values;
}

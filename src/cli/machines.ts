/**
 * Finds the machines of a project: `machines` in the config, else `machines/` here. Every exported machine
 * of every file counts, and so does every throttle. The samples that FleetQ ships are for `fleetq dev` alone:
 * with them a pod in a wrong directory would do what no author of the fleet has written.
 */
import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { extname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { type Config, LoadError, loadModule, MODULE_EXTENSIONS } from '../config/index.ts';
import { show } from '../ground/index.ts';
import { type Machine, machinesOf, routeOf } from '../machine/index.ts';
import { type ThrottleDefinition, throttlesOf } from '../throttle/index.ts';

export interface MachinesPlace {
  /** A file or a directory. */
  readonly from: string;
  readonly origin: 'config' | 'here' | 'samples';
}
export interface FoundMachines {
  readonly machines: readonly Machine[];
  /** How the APIs are to be treated that they call, where a file says so. */
  readonly throttles: readonly ThrottleDefinition[];
  /** The file or directory they came from. */
  readonly from: string;
  /** Route → the file that exports it. */
  readonly files: ReadonlyMap<string, string>;
  /** Those that export any of it. */
  readonly modules: readonly string[];
}

export const NO_MACHINES_HINT =
  'run it where machines/ is, or name a file or a directory with --machines <path>; ' +
  'only `fleetq dev` runs samples';
const FILES_MAX = 2_000;
const DEPTH_MAX = 12;
export const SAMPLES: MachinesPlace = {
  from: fileURLToPath(new URL('../machines', import.meta.url)),
  origin: 'samples',
};
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));
const NOT_SOURCE = /\.d\.[cm]?ts$|\.(test|spec)\.[a-z]+$/;

/** Where the machines of the project are, without loading any; undefined where it has none. */
export function machinesPlace(
  config: Pick<Config, 'machines'>,
  cwd: string,
): MachinesPlace | undefined {
  if (config.machines !== undefined)
    return { from: resolve(cwd, config.machines), origin: 'config' };
  const here = join(cwd, 'machines');
  // In FleetQ's own repository `machines/` holds the sources of the samples.
  const isOwnPackage = realpathSync(cwd) === realpathSync(PACKAGE);
  return !isOwnPackage && existsSync(here) ? { from: here, origin: 'here' } : undefined;
}

export async function loadMachines(
  config: Pick<Config, 'machines'>,
  cwd: string,
): Promise<FoundMachines> {
  const place = machinesPlace(config, cwd);
  if (place) return loadFrom(place);
  throw new LoadError(
    `there are no machines: none are configured, and no project has them at ${join(cwd, 'machines')}`,
    { hint: NO_MACHINES_HINT },
  );
}

/** For commands that look or cancel, which need no code. */
export async function loadMachinesIfAny(
  config: Pick<Config, 'machines'>,
  cwd: string,
): Promise<Omit<FoundMachines, 'from'>> {
  const place = machinesPlace(config, cwd);
  if (place) return loadFrom(place);
  return { machines: [], throttles: [], files: new Map(), modules: [] };
}

export async function loadFrom({ from }: Pick<MachinesPlace, 'from'>): Promise<FoundMachines> {
  if (!existsSync(from)) {
    throw new LoadError(`there is nothing at ${from}, where machines are configured to be`, {
      hint: 'correct `machines` in the config, FLEETQ_MACHINES or --machines',
    });
  }
  const found = new Map<string, { readonly machine: Machine; readonly file: string }>();
  const throttles = new FoundThrottles();
  for (const file of machineFiles(from)) {
    const module = await loadModule(file);
    for (const throttle of throttlesOf(module)) throttles.add(throttle, file);
    for (const machine of machinesOf(module)) {
      const known = found.get(routeOf(machine));
      if (known && known.machine !== machine) {
        throw new LoadError(`${file} and ${known.file} both define ${routeOf(machine)}`, {
          hint: 'give one of them another name, or raise its version',
        });
      }
      if (!known) found.set(routeOf(machine), { machine, file });
    }
  }
  const files = new Map([...found].map(([route, { file }]) => [route, file]));
  return {
    from,
    machines: [...found.values()].map(({ machine }) => machine),
    throttles: throttles.all,
    files,
    modules: [...new Set([...files.values(), ...throttles.files])],
  };
}

class FoundThrottles {
  readonly #found = new Map<
    string,
    { readonly throttle: ThrottleDefinition; readonly file: string }
  >();

  /** Files may say the same of an API, and not two things. */
  add(throttle: ThrottleDefinition, file: string): void {
    const { name, options } = throttle;
    const known = this.#found.get(name);
    if (!known) this.#found.set(name, { throttle, file });
    else if (!isDeepStrictEqual(known.throttle.options, options)) {
      const both =
        known.file === file ? `${file} defines` : `${file} and ${known.file} both define`;
      throw new LoadError(`${both} the throttle ${show(name)}, and not alike`, {
        hint: 'define it in one file, and import it where it is wanted',
      });
    }
  }

  get all(): ThrottleDefinition[] {
    return [...this.#found.values()].map(({ throttle }) => throttle);
  }

  get files(): string[] {
    return [...this.#found.values()].map(({ file }) => file);
  }
}

/** The files that machines are looked for in, without loading any. */
export function machineFiles(from: string): string[] {
  const root = realpathSync(from);
  return statSync(root).isDirectory() ? filesUnder(root) : [root];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (cause) {
    throw new LoadError(`${path} leads nowhere`, { cause, hint: 'remove the link' });
  }
}

function filesUnder(root: string): string[] {
  const files: string[] = [];
  const visit = (directory: string, depth: number): void => {
    const names = depth > DEPTH_MAX ? [] : readdirSync(directory).sort();
    for (const name of names) {
      if (name.startsWith('.') || name === 'node_modules') continue;
      const path = join(directory, name);
      const real = realOf(path);
      if (!real.startsWith(root + sep)) {
        throw new LoadError(`${path} leads out of ${root}, to ${real}`, {
          hint: 'put the file itself there, or name its real directory as `machines`',
        });
      }
      // A link within the directory names something that is visited anyway.
      if (lstatSync(path).isSymbolicLink()) continue;
      if (statSync(path).isDirectory()) visit(path, depth + 1);
      else if (MODULE_EXTENSIONS.includes(extname(name)) && !NOT_SOURCE.test(name))
        files.push(path);
    }
    if (files.length > FILES_MAX) {
      throw new LoadError(`there are more than ${FILES_MAX} files under ${root}`, {
        hint: 'name a directory that holds only machines',
      });
    }
  };
  visit(root, 1);
  return files;
}

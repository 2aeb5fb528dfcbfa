/** A host for tests of image/install: a fleet, a registry and a root, gone when the test is done. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFleet, type Fleet, type Machine, type Run, type RunSummary } from 'fleetq';
import { onTestFinished } from 'vitest';
import { defineImageInstall, type ImageInstallOptions } from '../../machines/image/install.ts';
import { type TarFile, tarArchive, tarEntry } from '../../machines/image/sample-image.ts';
import {
  type SampleRegistry,
  type SampleRegistryOptions,
  startSampleRegistry,
} from '../../machines/image/sample-registry.ts';
import { removeTree } from '../support/remove-tree.ts';

export interface ImageInput {
  readonly url: string;
  readonly sha256: string;
  readonly name: string;
  readonly root: string;
}

export interface Host {
  readonly root: string;
  readonly fleet: Fleet;
  readonly machine: Machine<ImageInput>;
  readonly close: () => Promise<void>;
  readonly registry: SampleRegistry;
  inputOf(name: string): ImageInput;
  /** Starts a run without waiting for it. */
  start(input: ImageInput): Promise<Run>;
  /** Runs to the end, however it ends, and says how that was. */
  install(input: ImageInput | string): Promise<RunSummary>;
  home(name: string): string;
}

/** A host for one test. */
export async function startHost(
  registryOptions: SampleRegistryOptions = {},
  machineOptions: ImageInstallOptions = {},
): Promise<Host> {
  const host = await openHost(registryOptions, machineOptions);
  onTestFinished(host.close);
  return host;
}

/** A host that the caller closes. */
export async function openHost(
  registryOptions: SampleRegistryOptions = {},
  machineOptions: ImageInstallOptions = {},
): Promise<Host> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-image-'));
  const machine = defineImageInstall(machineOptions);
  const registry = await startSampleRegistry(registryOptions);
  const fleet = await createFleet({ machines: [machine], dataDir: join(directory, 'data') });
  const close = async () => {
    await fleet.drain({ budget: '1s' });
    await registry.close();
    removeTree(directory);
  };
  const root = join(directory, 'root');
  const inputOf = (name: string): ImageInput => {
    const image = registry.images.find((found) => found.name === name);
    if (!image) throw new Error(`the registry has no image ${name}`);
    return { url: image.url, sha256: image.sha256, name, root };
  };
  const start = (input: ImageInput) => fleet.startLocal(machine, input);
  return {
    root,
    fleet,
    machine,
    close,
    registry,
    inputOf,
    start,
    install: async (given) => {
      const run = await start(typeof given === 'string' ? inputOf(given) : given);
      await run.result({ timeout: '30s' }).catch((error) => {
        if (error.code === 'FLEETQ_WAIT_TIMEOUT') throw error;
      });
      return fleet.describe(run.id);
    },
    home: (name) => join(root, name),
  };
}

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function archiveOf(files: readonly TarFile[]): Buffer {
  return tarArchive(files.map(tarEntry));
}

/** What is in a directory, at any depth; none where it is not there. */
export function namesUnder(directory: string): string[] {
  try {
    return readdirSync(directory, { recursive: true }).map(String).sort();
  } catch {
    return [];
  }
}

/** Path → text of every regular file, with links left alone. */
export function textsUnder(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    files
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(directory.length + 1), readFileSync(path, 'latin1')]),
  );
}

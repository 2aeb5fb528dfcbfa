/**
 * Holds manifests to the definitions of the Kubernetes API. Those come as types, made from the
 * OpenAPI description of a release; the compiler is the validator. It refuses a field that there is
 * not, one that is missing, and a value of another type. Words that the types leave open (they say
 * `string`) are compared here, as are whole numbers.
 */
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown.ts';
import { run } from '../docs/workspace.ts';
import { removeTree } from '../support/remove-tree.ts';
import type { Manifest } from './manifests.ts';

const MODULES: Readonly<Record<string, string>> = {
  v1: 'core/v1',
  'apps/v1': 'apps/v1',
  'batch/v1': 'batch/v1',
  'policy/v1': 'policy/v1',
  'networking.k8s.io/v1': 'networking/v1',
};

/** What is wrong, one line each; empty where a cluster would take all of them. */
export async function complaintsAbout(manifests: readonly Manifest[]): Promise<string[]> {
  const unknown = manifests
    .filter(({ apiVersion }) => MODULES[apiVersion] === undefined)
    .map(({ apiVersion, kind }) => `there is no ${apiVersion} ${kind}`);
  const known = manifests.filter(({ apiVersion }) => MODULES[apiVersion] !== undefined);
  const words = known.flatMap(({ kind, content }) => oddValues(content, kind));
  return [...unknown, ...words, ...(await compile(known))];
}

async function compile(manifests: readonly Manifest[]): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'fleetq-schema-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    for (const [index, { apiVersion, kind, content }] of manifests.entries()) {
      const text = `import type { ${kind} } from 'kubernetes-types/${MODULES[apiVersion]}';
export const manifest: ${kind} = ${JSON.stringify(content, undefined, 1)};\n`;
      writeFileSync(join(directory, `${kind}-${index}.ts`), text);
    }
    const compilerOptions = {
      module: 'esnext',
      moduleResolution: 'bundler',
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      types: [],
    };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const { stdout, stderr, code } = await run(directory, process.execPath, [tsc, '-p', '.']);
    if (code === 0) return [];
    const errors = stdout.split('\n').filter((line) => line.includes('error TS'));
    return errors.length > 0 ? errors : [`tsc ended with ${code}: ${stdout}${stderr}`];
  } finally {
    removeTree(directory);
  }
}

/** Which words the API takes where its types say `string`. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  restartPolicy: ['Always', 'OnFailure', 'Never'],
  imagePullPolicy: ['Always', 'IfNotPresent', 'Never'],
  podManagementPolicy: ['OrderedReady', 'Parallel'],
  whenUnsatisfiable: ['DoNotSchedule', 'ScheduleAnyway'],
  whenDeleted: ['Retain', 'Delete'],
  whenScaled: ['Retain', 'Delete'],
  fsGroupChangePolicy: ['OnRootMismatch', 'Always'],
  unhealthyPodEvictionPolicy: ['IfHealthyBudget', 'AlwaysAllow'],
  // Of a rollout, and of a seccomp profile.
  type: ['RollingUpdate', 'Recreate', 'OnDelete', 'RuntimeDefault', 'Localhost', 'Unconfined'],
  accessModes: ['ReadWriteOnce', 'ReadWriteOncePod', 'ReadWriteMany', 'ReadOnlyMany'],
  policyTypes: ['Ingress', 'Egress'],
};
/** Amounts, as Kubernetes writes them. */
const QUANTITY = /^\d+(\.\d+)?(m|[kMGT]i?)?$/;
const AMOUNTS = ['cpu', 'memory', 'ephemeral-storage', 'storage', 'sizeLimit'];
/** Free text and names: nothing in them is a word of the API. */
const FREE = ['data', 'labels', 'annotations', 'matchLabels'];

function oddValues(value: unknown, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => oddValues(each, path));
  if (typeof value === 'number') return Number.isInteger(value) ? [] : [`${path}: ${value}`];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const where = `${path}.${name}`;
    if (FREE.includes(name) && typeof inner === 'object' && !Array.isArray(inner)) return [];
    const texts = [inner].flat().filter((each) => typeof each === 'string');
    const isOdd = (text: string) =>
      (WORDS[name] !== undefined && !WORDS[name].includes(text)) ||
      (AMOUNTS.includes(name) && !QUANTITY.test(text));
    return [...texts.filter(isOdd).map((text) => `${where}: ${text}`), ...oddValues(inner, where)];
  });
}

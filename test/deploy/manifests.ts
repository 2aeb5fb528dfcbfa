/** The manifests under deploy/kubernetes, read, and what a cluster would make of a pod's template. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type {
  ConfigMap,
  Container,
  EnvVar,
  PodSpec,
  PodTemplateSpec,
} from 'kubernetes-types/core/v1.d.ts';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../docs/markdown.ts';

const DIRECTORY = join(ROOT, 'deploy/kubernetes');

/** As far as all of them are alike. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly file: string;
  readonly content: unknown;
}

let read: Manifest[] | undefined;

export function readManifests(): readonly Manifest[] {
  read ??= readdirSync(DIRECTORY)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .flatMap((file) => parseManifests(file, readFileSync(join(DIRECTORY, file), 'utf8')));
  return read;
}

/** A key that is there twice, or a tab, is an error here and not a surprise in a cluster. */
export function parseManifests(file: string, text: string): Manifest[] {
  return parseAllDocuments(text, { strict: true, uniqueKeys: true }).map((document) => {
    const [error] = document.errors;
    if (error) throw new Error(`${file}: ${error.message}`);
    const content = document.toJS() as Manifest;
    return { ...content, file, content };
  });
}

export function manifestOf<T>(kind: string, name: string): T {
  const found = readManifests().find((each) => each.kind === kind && each.metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}`);
  return found.content as T;
}

/** Whatever makes pods: StatefulSet, Deployment, Job. */
export function templates(): { readonly name: string; readonly template: PodTemplateSpec }[] {
  return readManifests()
    .filter(({ kind }) => ['StatefulSet', 'Deployment', 'Job'].includes(kind))
    .map(({ metadata: { name }, content }) => ({
      name,
      template: (content as StatefulSet).spec!.template,
    }));
}

export function specOf(name: string): PodSpec {
  const found = templates().find((each) => each.name === name);
  if (!found?.template.spec) throw new Error(`nothing called ${name} makes pods`);
  return found.template.spec;
}

/** What is not in the manifests: secrets, and what the cluster knows of the pod. */
export interface Given {
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly podName: string;
}

/** The environment that the container would get, a missing reference being an error as there. */
export function environmentOf(container: Container, given: Given): Record<string, string> {
  const fromMaps = (container.envFrom ?? []).map(({ configMapRef }) => {
    if (!configMapRef?.name) throw new Error('envFrom names no ConfigMap');
    return manifestOf<ConfigMap>('ConfigMap', configMapRef.name).data ?? {};
  });
  const own = (container.env ?? []).map((variable) => [variable.name, givenValue(variable, given)]);
  return { ...Object.assign({}, ...fromMaps), ...Object.fromEntries(own) };
}

function givenValue({ name, value, valueFrom }: EnvVar, given: Given): string {
  if (value !== undefined) return value;
  const secret = valueFrom?.secretKeyRef;
  const found = secret?.name ? given.secrets[secret.name]?.[secret.key] : undefined;
  if (found !== undefined) return found;
  if (valueFrom?.fieldRef?.fieldPath === 'metadata.name') return given.podName;
  throw new Error(`nobody gives ${name} a value`);
}

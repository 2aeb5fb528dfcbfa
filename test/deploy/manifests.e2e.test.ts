/** The manifests: what Kubernetes takes, what FleetQ has, and what a drain needs. */
import type { StatefulSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Container, Service } from 'kubernetes-types/core/v1.d.ts';
import type { NetworkPolicy } from 'kubernetes-types/networking/v1.d.ts';
import type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
import { expect, test } from 'vitest';
import { HealthServer } from '../../src/admin/index.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { STOP_SLACK_MS } from '../../src/cli/worker/worker.ts';
import { readConfig, version } from '../../src/config/index.ts';
import { parseDuration } from '../../src/ground/index.ts';
import { complaintsAbout } from './kubernetes-schema.ts';
import {
  environmentOf,
  manifestOf,
  parseManifests,
  readManifests,
  specOf,
  templates,
} from './manifests.ts';

const WORKERS = ['fleetq-stable', 'fleetq-elastic'] as const;
const given = {
  secrets: { 'fleetq-store': { url: 'postgres://app@db/fleet' } },
  podName: 'fleetq-0',
};

function onlyContainer(name: string): Container {
  const { containers, initContainers } = specOf(name);
  expect(initContainers).toBeUndefined();
  expect(containers).toHaveLength(1);
  return containers[0]!;
}

test('every manifest is one that Kubernetes takes', async () => {
  const manifests = readManifests();
  expect(manifests.map(({ kind }) => kind).sort()).toEqual([
    ...['ConfigMap', 'Deployment', 'Job', 'NetworkPolicy', 'PodDisruptionBudget'],
    ...['Service', 'ServiceAccount', 'StatefulSet'],
  ]);
  expect(await complaintsAbout(manifests)).toEqual([]);
});

/** One mistake each, of the kinds that people make. */
const MISTAKES: readonly (readonly [kind: string, good: string, bad: string, said: RegExp])[] = [
  ['StatefulSet', '"terminationGracePeriodSeconds"', '"gracePeriodSeconds"', /gracePeriodSeconds/],
  ['StatefulSet', '"containerPort":9090', '"containerPort":"9090"', /not assignable to .*number/],
  ['StatefulSet', '"serviceName":"fleetq",', '', /'serviceName' is missing/],
  ['StatefulSet', '"Parallel"', '"parallel"', /podManagementPolicy: parallel/],
  ['StatefulSet', '"storage":"4Gi"', '"storage":"4 GB"', /storage: 4 GB/],
  ['Deployment', '"httpGet"', '"httpget"', /"httpget"' does not exist/],
  ['Deployment', '"runAsNonRoot":true', '"runAsNonRoot":"yes"', /not assignable to .*boolean/],
  ['Deployment', '"maxSurge":1', '"maxSurge":1.5', /maxSurge: 1.5/],
  ['ConfigMap', '"FLEETQ_SLOTS":"64"', '"FLEETQ_SLOTS":64', /not assignable to .*string/],
  ['Job', '"apiVersion":"batch/v1"', '"apiVersion":"batch/v2"', /no batch\/v2 Job/],
  ['PodDisruptionBudget', '"maxUnavailable"', '"maxunavailable"', /maxunavailable/],
];

test('a manifest with a mistake is refused, whatever kind of mistake it is', async () => {
  const whole = new Map(readManifests().map((each) => [each.kind, JSON.stringify(each.content)]));
  const broken = MISTAKES.map(([kind, good, bad]) => {
    expect(whole.get(kind)).toContain(good);
    return parseManifests(kind, whole.get(kind)!.replace(good, bad))[0]!;
  });
  const complaints = await complaintsAbout(broken);
  for (const [kind, , bad, said] of MISTAKES) {
    const heard = complaints.filter((line) => line.includes(kind) && said.test(line));
    expect(heard, `${kind}: ${bad} among\n${complaints.join('\n')}`).not.toEqual([]);
  }
  expect(() => parseManifests('twice.yaml', 'kind: Job\nkind: Pod\n')).toThrow(/unique/);
});

test('every variable is a setting, with a value that FleetQ takes', async () => {
  for (const { name } of templates()) {
    const env = environmentOf(onlyContainer(name), given);
    const config = await readConfig({ flags: {}, env, cwd: '/' });
    expect(Object.keys(env).filter((each) => !each.startsWith('FLEETQ_'))).toEqual([]);
    expect([name, config.unknownVariables]).toEqual([name, []]);
    expect(config.store).toBe(given.secrets['fleetq-store'].url);
  }
});

test('every container calls a command that there is', () => {
  for (const { name } of templates()) {
    const { args, command } = onlyContainer(name);
    expect(command, 'the entry point of the image is fleetq').toBeUndefined();
    let at = buildProgram(() => undefined);
    for (const word of args ?? []) {
      const next = at.commands.find((each) => each.name() === word);
      expect(next, `fleetq ${args?.join(' ')}`).toBeDefined();
      at = next!;
    }
    // What is left to choose would print a help text and end.
    expect(at.commands.map((each) => each.name())).toEqual([]);
  }
});

test('the probes ask what a pod answers, on the port that it listens on', async () => {
  const health = new HealthServer({
    listen: '127.0.0.1:0',
    whyNotReady: () => undefined,
    metrics: { text: async () => ({ type: 'text/plain', text: '' }) },
  });
  const at = await health.start();
  try {
    for (const name of WORKERS) {
      const container = onlyContainer(name);
      const { FLEETQ_HEALTH_LISTEN } = environmentOf(container, given);
      const [port] = container.ports!;
      expect(FLEETQ_HEALTH_LISTEN).toBe(`:${port?.containerPort}`);
      const { startupProbe, livenessProbe, readinessProbe } = container;
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
        expect(probe?.httpGet?.port).toBe(port?.name);
        expect((await fetch(`http://${at}${probe?.httpGet?.path}`)).status).toBe(200);
      }
      // A store that is away makes a pod unready, and must not have it killed.
      const paths = [startupProbe, livenessProbe].map((probe) => probe?.httpGet?.path);
      expect(paths).toEqual(['/livez', '/livez']);
      expect(readinessProbe?.httpGet?.path).toBe('/readyz');
      const { spec } = manifestOf<Service>('Service', 'fleetq');
      expect(spec?.ports?.[0]).toMatchObject({
        port: port?.containerPort,
        targetPort: port?.name,
      });
      const policy = manifestOf<NetworkPolicy>('NetworkPolicy', 'fleetq');
      expect(policy.spec?.ingress?.[0]?.ports).toEqual([{ port: port?.name }]);
    }
  } finally {
    await health.stop();
  }
});

test('the grace period outlasts preStop and the whole drain', async () => {
  for (const name of WORKERS) {
    const { terminationGracePeriodSeconds = 0 } = specOf(name);
    const container = onlyContainer(name);
    const [sleep, seconds] = container.lifecycle?.preStop?.exec?.command ?? [];
    expect(sleep).toBe('sleep');
    const env = environmentOf(container, given);
    const { drainBudget } = await readConfig({ flags: {}, env, cwd: '/' });
    const neededMs = Number(seconds) * 1_000 + parseDuration(drainBudget)! + STOP_SLACK_MS;
    expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThanOrEqual(neededMs);
  }
});

test('the data directory lies below a volume, and is not the volume itself', () => {
  for (const name of WORKERS) {
    const container = onlyContainer(name);
    const { FLEETQ_DATA_DIR = '' } = environmentOf(container, given);
    const mounts = container.volumeMounts ?? [];
    const mount = mounts.find(({ mountPath }) => FLEETQ_DATA_DIR.startsWith(`${mountPath}/`));
    expect(mount?.name).toBe('data');
    expect(mounts.map(({ mountPath }) => mountPath)).toContain('/tmp');
  }
  const { spec } = manifestOf<StatefulSet>('StatefulSet', 'fleetq-stable');
  expect(spec?.volumeClaimTemplates?.map(({ metadata }) => metadata?.name)).toEqual(['data']);
  const lent = specOf('fleetq-elastic').volumes?.find(({ name }) => name === 'data');
  expect(lent?.emptyDir?.sizeLimit).toBe(
    spec?.volumeClaimTemplates?.[0]?.spec?.resources?.requests?.['storage'],
  );
});

test('no container is root, writes to its root, or may become more than it is', () => {
  for (const { name } of templates()) {
    const spec = specOf(name);
    expect(spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      runAsUser: 1000,
      runAsGroup: 1000,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
    const { securityContext, resources, image } = onlyContainer(name);
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(Object.keys(resources?.requests ?? {})).toEqual(
      expect.arrayContaining(['cpu', 'memory']),
    );
    expect(Object.keys(resources?.limits ?? {})).toEqual(['memory']);
    expect(image).toBe(`fleetq:${version()}`);
  }
});

test('pods that keep their disk and pods that do not differ in nothing else', () => {
  const [stable, elastic] = WORKERS.map((name) => {
    const { volumes, ...rest } = specOf(name);
    return { ...rest, volumes: volumes?.filter((volume) => volume.name !== 'data') };
  });
  expect(stable).toEqual(elastic);
});

test('what selects pods selects those of both kinds, and no others', () => {
  const labels = new Map(templates().map((each) => [each.name, each.template.metadata?.labels]));
  const selects = (selector: Record<string, string> | undefined) =>
    [...labels.keys()].filter((name) =>
      Object.entries(selector ?? {}).every(([key, value]) => labels.get(name)?.[key] === value),
    );
  const workers = [...WORKERS].sort();
  const budget = manifestOf<PodDisruptionBudget>('PodDisruptionBudget', 'fleetq');
  const policy = manifestOf<NetworkPolicy>('NetworkPolicy', 'fleetq');
  const service = manifestOf<Service>('Service', 'fleetq');
  expect(selects(service.spec?.selector).sort()).toEqual(workers);
  expect(selects(budget.spec?.selector?.matchLabels).sort()).toEqual(workers);
  expect(selects(policy.spec?.podSelector?.matchLabels).sort()).toEqual(workers);
  for (const [kind, name] of [
    ['StatefulSet', 'fleetq-stable'],
    ['Deployment', 'fleetq-elastic'],
  ] as const) {
    const { spec } = manifestOf<StatefulSet>(kind, name);
    expect(selects(spec?.selector.matchLabels)).toEqual([name]);
    for (const { labelSelector } of specOf(name).topologySpreadConstraints ?? []) {
      expect(selects(labelSelector?.matchLabels).sort()).toEqual(workers);
    }
  }
  const { spec } = manifestOf<StatefulSet>('StatefulSet', 'fleetq-stable');
  expect([spec?.serviceName, service.spec?.clusterIP]).toEqual(['fleetq', 'None']);
  for (const name of labels.keys()) {
    const account = specOf(name).serviceAccountName!;
    expect(() => manifestOf('ServiceAccount', account)).not.toThrow();
  }
});

/** The Dockerfile: what it copies exists, nobody is root, signals reach Node, and it fits the manifests. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/index.ts';
import { ROOT } from '../docs/markdown.ts';
import {
  all,
  copyOf,
  environmentOf,
  execForm,
  letIn,
  one,
  readDockerfile,
  type Stage,
} from './dockerfile.ts';
import { manifestOf, specOf } from './manifests.ts';

const stages = readDockerfile();
const [build, final] = stages as [Stage, Stage];

test('one stage builds, and the last has only what is run', () => {
  expect(stages.map(({ name, from }) => [name, from])).toEqual([
    ['build', expect.stringMatching(/^node:.*-bookworm-slim$/)],
    [undefined, expect.stringMatching(/^node:.*-bookworm-slim$/)],
  ]);
  expect(all(build, 'RUN').join(' && ')).toMatch(/npm ci && .*npm prune --omit=dev/);
  expect(all(final, 'COPY').map((rest) => copyOf(rest).stage)).toEqual(['build']);
  expect(all(final, 'RUN').join()).not.toMatch(/npm|apt/);
});

test('what is copied from the tree is there, and is let in; nothing else is', () => {
  const copied = all(build, 'COPY').flatMap((rest) => copyOf(rest).from);
  expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect([...copied].sort()).toEqual([...letIn()].sort());
});

test('nobody is root, and a cluster can tell so: the user is a number, that of the manifests', () => {
  const { runAsUser, runAsGroup } = specOf('fleetq-stable').securityContext ?? {};
  expect(one(final, 'USER')).toBe(`${runAsUser}:${runAsGroup}`);
  const last = final.instructions.map(({ word }) => word);
  expect(last.lastIndexOf('RUN')).toBeLessThan(last.indexOf('USER'));
});

test('SIGTERM reaches the process itself: entry point, command and probe are exec forms', () => {
  expect(one(final, 'STOPSIGNAL')).toBe('SIGTERM');
  expect(execForm(one(final, 'ENTRYPOINT'))).toEqual(['fleetq']);
  expect(execForm(one(final, 'CMD'))).toEqual(['worker']);
  const [, probe = ''] = /CMD (\[.*\])$/.exec(one(final, 'HEALTHCHECK')) ?? [];
  expect(execForm(probe).slice(0, 2)).toEqual(['node', '-e']);
  expect(() => execForm('fleetq worker')).toThrow();
});

test('its settings are settings, and those of the manifests say the same', async () => {
  const env = environmentOf(final);
  const config = await readConfig({ flags: {}, env, cwd: '/' });
  expect(config.unknownVariables).toEqual([]);
  const { data = {} } = manifestOf<ConfigMap>('ConfigMap', 'fleetq');
  for (const name of Object.keys(env).filter((each) => each.startsWith('FLEETQ_'))) {
    expect([name, data[name]]).toEqual([name, env[name]]);
  }
  expect(config.dataDir.startsWith(`${one(final, 'VOLUME')}/`)).toBe(true);
  expect(config.healthListen).toBe(`:${one(final, 'EXPOSE')}`);
  expect(one(final, 'HEALTHCHECK')).toContain(`http://127.0.0.1${config.healthListen}/livez`);
});

test('a file that is no Dockerfile is refused, and so are words that there are not', () => {
  expect(() => readDockerfile('FROM node\nENTRYPIONT ["fleetq"]\n')).toThrow(/ENTRYPIONT/);
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NODE_RANGE, nodeComplaint, runtimeName } from '../../src/ground/index.ts';
import { ROOT } from '../docs/markdown.ts';

test('the versions of Node are those that package.json names', () => {
  const { engines } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'));
  expect(engines.node).toBe(NODE_RANGE);
});

test('for any other Node one line says what is needed', () => {
  for (const version of ['22.18.0', '22.19.1', '24.0.0', '26.9.0']) {
    expect(nodeComplaint(version)).toBeUndefined();
  }
  for (const version of ['18.0.0', '20.20.2', '22.17.9', '23.5.0', '23.11.0']) {
    expect(nodeComplaint(version)).toBe(
      `FleetQ needs Node 22.18 or a newer 22, or 24 or newer, and this is Node ${version}`,
    );
  }
});

test('messages name the program, its version and the platform', () => {
  expect(runtimeName()).toBe(`Node ${process.version} on ${process.platform} ${process.arch}`);
});

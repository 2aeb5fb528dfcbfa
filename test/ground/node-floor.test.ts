import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { NODE_FLOOR, nodeComplaint, runtimeName } from '../../src/ground/index.ts';
import { ROOT } from '../docs/markdown.ts';

test('the oldest Node is the one that package.json names', () => {
  const { engines } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'));
  expect(engines.node).toBe(`>=${NODE_FLOOR}`);
});

test('an older Node is told in one line what is needed', () => {
  for (const version of ['22.18.0', '22.19.1', '24.0.0', '26.9.0']) {
    expect(nodeComplaint(version)).toBeUndefined();
  }
  for (const version of ['20.20.2', '22.17.9', '18.0.0']) {
    expect(nodeComplaint(version)).toBe(
      `FleetQ needs Node 22.18 or newer, and this is Node ${version}`,
    );
  }
});

test('messages name the program, its version and the platform', () => {
  expect(runtimeName()).toBe(`Node ${process.version} on ${process.platform} ${process.arch}`);
});

/** A real Node that FleetQ does not run on gets one line, and loads nothing that would end it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nodeOf } from '../../tools/from-npm.ts';
import { ROOT } from '../docs/markdown.ts';
import { run } from '../docs/workspace.ts';

const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const entries = Object.values<{ default?: string }>(exports).flatMap(
  (entry) => entry.default ?? [],
);

describe.each([20, 23])('Node %i', (major) => {
  const node = nodeOf(major);
  const line =
    'FleetQ needs Node 22\\.18 or a newer 22, or 24 or newer, ' +
    `and this is Node ${major}\\.\\S+\n$`;

  test('the command says it and nothing else', async () => {
    for (const args of [[], ['--version'], ['doctor'], ['start', 'hello']]) {
      const { code, stdout, stderr } = await run(ROOT, node, ['dist/bin.js', ...args]);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^fleetq: ${line}`));
    }
  });

  test.each(entries)('%s throws it as an error', async (entry) => {
    const url = pathToFileURL(join(ROOT, entry)).href;
    const program = `import('${url}').then(
      () => console.log('loaded'),
      (error) => console.log(error.code, error.message));`;
    const { code, stdout, stderr } = await run(ROOT, node, ['-e', program]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`^FLEETQ_NODE_TOO_OLD ${line}`));
  });

  test('the build of a clone says it too', async () => {
    const { code, stdout, stderr } = await run(ROOT, node, ['tools/build.mjs']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(new RegExp(`^${line}`));
  });
});

/** Throttles that the files of a project's machines export: what commands make of them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openFleet } from '../../src/cli/host.ts';
import { loadMachines } from '../../src/cli/machines.ts';
import { readConfig } from '../../src/config/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';

const newDir = useTempDirs();
const THROTTLES = pathToFileURL(join(process.cwd(), 'src/throttle/throttles.ts')).href;
const define = (name: string, inFlight: number) =>
  `defineThrottle('${name}', { limits: { inFlight: ${inFlight} } })`;

function project(files: Readonly<Record<string, string>>): string {
  const cwd = newDir('project');
  mkdirSync(join(cwd, 'machines'), { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    const source = `import { defineThrottle } from '${THROTTLES}';\n${text}`;
    writeFileSync(join(cwd, 'machines', name), source);
  }
  return cwd;
}

const load = (files: Readonly<Record<string, string>>) =>
  loadMachines({ machines: undefined }, project(files));

test('throttles are found by name, as the default, and in arrays', async () => {
  const { throttles, modules } = await load({
    'a.mjs': `export const a = ${define('a', 1)}; export const more = [${define('b', 2)}];`,
    'b.mjs': `export default ${define('c', 3)};`,
    'c.mjs': `export default [${define('d', 4)}, ${define('e', 5)}];`,
    'd.mjs': 'export const order = { name: "no throttle", options: {} };',
  });
  expect(throttles.map(({ name, options }) => [name, options.limits?.inFlight])).toEqual([
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['d', 4],
    ['e', 5],
  ]);
  // Suspects have a process of their own, which has to find them, too.
  expect(modules.map((file) => file.slice(-5))).toEqual(['a.mjs', 'b.mjs', 'c.mjs']);
});

test('files may say the same of an API, and not two things', async () => {
  const twice = {
    'a.mjs': `export const slow = ${define('slow', 1)};`,
    'b.mjs': `export const slow = ${define('slow', 1)}; export { slow as again };`,
  };
  expect((await load(twice)).throttles).toHaveLength(1);
  const apart = { ...twice, 'b.mjs': `export const slow = ${define('slow', 2)};` };
  await expect(load(apart)).rejects.toThrow(
    /b\.mjs and .*a\.mjs both define the throttle "slow", and not alike/,
  );
  const within = { 'a.mjs': `export default [${define('slow', 1)}, ${define('slow', 2)}];` };
  await expect(load(within)).rejects.toThrow(/a\.mjs defines the throttle "slow", and not alike/);
});

test('a process of the command line calls an API as its throttle says', async () => {
  const cwd = project({ 'a.mjs': `export const slow = ${define('slow', 3)};` });
  const config = await readConfig({ flags: { dataDir: join(cwd, 'data') }, env: {}, cwd });
  await using fleet = await openFleet(config, await loadMachines(config, cwd), { isIdle: true });
  expect(fleet.throttle('slow').snapshot().limit).toBe(3);
  expect(fleet.throttle('other').snapshot().limit).toBe(10_000);
});

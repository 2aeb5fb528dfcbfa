/** TypeScript as it stands, by the loader of a real process: the config and the machines of a project. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fleetq, makeDirectory } from './support.ts';

const MACHINE = `
  import { defineMachine } from 'fleetq';
  const any = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const;
  export const typed = defineMachine({ name: 'typed', version: 1, input: any, check: 'none', work: (): string => 'yes' });`;

function project(type: string, extension: string): string {
  const cwd = makeDirectory();
  mkdirSync(join(cwd, 'own'));
  mkdirSync(join(cwd, 'node_modules'));
  symlinkSync(process.cwd(), join(cwd, 'node_modules', 'fleetq'));
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ type }));
  writeFileSync(
    join(cwd, `fleetq.config.${extension}`),
    'export default { machines: "./own" as string };',
  );
  writeFileSync(join(cwd, 'own', `typed.${extension}`), MACHINE);
  return cwd;
}

const start = (cwd: string) =>
  fleetq(cwd, ['start', 'typed', '--wait'], { env: { FLEETQ_MACHINES: '' } });

test.each([
  ['module', 'ts'],
  ['commonjs', 'mts'],
])('in a %s project the config and the machines are loaded as .%s', async (type, extension) => {
  const ended = await start(project(type, extension));
  expect(ended.stderr).toContain('completed');
  expect(JSON.parse(ended.stdout)).toBe('yes');
});

test('in a commonjs project .ts is refused, with what to write instead', async () => {
  const ended = await start(project('commonjs', 'ts'));
  expect(ended.stderr).toContain('write "module" there, or end the file\'s name in .mts');
  expect(ended.code).not.toBe(0);
});

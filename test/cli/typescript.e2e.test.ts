/** TypeScript as it stands, by the loader of a real process: the config and the machines of a project. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fleetq, makeDirectory } from './support.ts';

const MACHINE = `
  import { defineMachine } from 'fleetq';
  const any = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } } as const;
  export const typed = defineMachine({ name: 'typed', version: 1, input: any, check: 'none', work: (): string => 'yes' });`;

test.each(['module', 'commonjs'])(
  'config and machines of a %s project are loaded',
  async (type) => {
    const cwd = makeDirectory();
    mkdirSync(join(cwd, 'own'));
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(process.cwd(), join(cwd, 'node_modules', 'fleetq'));
    writeFileSync(join(cwd, 'package.json'), JSON.stringify({ type }));
    writeFileSync(join(cwd, 'fleetq.config.ts'), 'export default { machines: "./own" as string };');
    writeFileSync(join(cwd, 'own', 'typed.ts'), MACHINE);
    const ended = await fleetq(cwd, ['start', 'typed', '--wait'], { env: { FLEETQ_MACHINES: '' } });
    expect(ended.stderr).toContain('completed');
    expect(JSON.parse(ended.stdout)).toBe('yes');
  },
);

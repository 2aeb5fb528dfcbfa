/** Where settings come from, who wins, and what a bad one is told. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadMachines, machinesPlace } from '../../src/cli/machines.ts';
import { readConfig } from '../../src/config/index.ts';
import { useTempDirs } from '../support/temp-dir.ts';
import { MACHINES } from './in-process.ts';

const newDir = useTempDirs();

function project(files: Readonly<Record<string, string>>): string {
  const cwd = newDir('project');
  mkdirSync(cwd, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(cwd, name, '..'), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return cwd;
}

describe('settings', () => {
  test('flags win over variables, variables over the file, the file over defaults', async () => {
    const cwd = project({
      'fleetq.config.json': '{"slots":3,"retention":"1d","drainBudget":"5s"}',
    });
    const config = await readConfig({
      flags: { slots: '1' },
      env: { FLEETQ_SLOTS: '2', FLEETQ_RETENTION: '2d', FLEETQ_LOG_LEVEL: '' },
      cwd,
    });
    expect(config).toMatchObject({
      slots: 1,
      retention: '2d',
      drainBudget: '5s',
      logLevel: 'info',
      sources: {
        slots: 'flag --slots',
        retention: 'FLEETQ_RETENTION',
        drainBudget: join(cwd, 'fleetq.config.json'),
        logLevel: 'default',
      },
    });
    expect(Object.isFrozen(config)).toBe(true);
  });

  test('relative paths are meant from where the command is called, and shown as they were typed there', async () => {
    const flags = { dataDir: 'data', store: 'sqlite:./fleet.db' };
    const cwd = newDir();
    expect(await readConfig({ flags, env: {}, cwd })).toMatchObject({
      dataDir: join(cwd, 'data'),
      store: `sqlite:${join(cwd, 'fleet.db')}`,
    });
    expect(await readConfig({ flags, env: {}, cwd: process.cwd() })).toMatchObject(flags);
  });

  test('paths in the file are meant from where it is', async () => {
    const cwd = project({ 'fleetq.config.mjs': 'export default { dataDir: "data" };' });
    expect((await readConfig({ flags: {}, env: {}, cwd })).dataDir).toBe(join(cwd, 'data'));
  });

  test.each([
    [{ FLEETQ_SLOTS: '0' }, 'FLEETQ_SLOTS must be a whole number from 1 to 100000, got "0"'],
    [{ FLEETQ_SLOTS: '1e3' }, 'FLEETQ_SLOTS must be a whole number'],
    [{ FLEETQ_RETENTION: 'week' }, 'FLEETQ_RETENTION must be a duration'],
    [{ FLEETQ_LOG_LEVEL: 'loud' }, 'FLEETQ_LOG_LEVEL must be one of debug, info'],
    [{ FLEETQ_POOLED: 'yes' }, 'FLEETQ_POOLED must be true or false, got "yes"'],
    [{ FLEETQ_CLAIM_MODE: 'lock' }, 'FLEETQ_CLAIM_MODE must be one of skip-locked, cas'],
    [{ FLEETQ_HEALTH_LISTEN: '9090' }, 'FLEETQ_HEALTH_LISTEN must be an address such as'],
    [{ FLEETQ_HEALTH_LISTEN: ':70000' }, 'FLEETQ_HEALTH_LISTEN must be an address such as'],
    [
      { FLEETQ_HEARTBEAT: '2s', FLEETQ_SILENCE: '5s' },
      'silence (5s) must outlast three heartbeats (of 2s), or the sweep takes live pods for dead',
    ],
  ])('%o is refused', async (env, words) => {
    await expect(readConfig({ flags: {}, env, cwd: newDir() })).rejects.toThrow(words);
  });

  test.each([
    ['{"slot":1}', 'unknown setting "slot"', 'did you mean slots?'],
    ['{"slots":"many"}', 'slots in ', undefined],
    ['[]', 'must hold an object', expect.stringContaining('export default')],
    ['{', 'is not JSON', undefined],
  ])('a config file %s is refused', async (text, words, hint) => {
    const cwd = project({ 'fleetq.config.json': text });
    const refused = readConfig({ flags: {}, env: {}, cwd });
    await expect(refused).rejects.toThrow(words);
    await expect(refused).rejects.toMatchObject({ hint });
  });

  test('two config files are refused rather than chosen from', async () => {
    const cwd = project({ 'fleetq.config.json': '{}', 'fleetq.config.js': '' });
    await expect(readConfig({ flags: {}, env: {}, cwd })).rejects.toThrow('two config files');
  });

  test('an address that is none is refused without being repeated: it may hold a password', async () => {
    const env = { FLEETQ_STORE_URL: 'postgers://app:hunter2@db/fleet' };
    const refused = readConfig({ flags: {}, env, cwd: newDir() });
    await expect(refused).rejects.toThrow(
      'FLEETQ_STORE_URL must be an address such as postgres://',
    );
    await refused.catch((error) =>
      expect(JSON.stringify(error) + error.message).not.toContain('hunter2'),
    );
  });

  test.each([':9090', '127.0.0.1:0', '[::1]:9090', 'localhost:80'])(
    '%s is where probes may be answered',
    async (healthListen) => {
      const env = { FLEETQ_HEALTH_LISTEN: healthListen };
      const config = await readConfig({ flags: {}, env, cwd: newDir() });
      expect(config.healthListen).toBe(healthListen);
    },
  );

  test('a variable that nobody reads is told', async () => {
    const config = await readConfig({ flags: {}, env: { FLEETQ_SLOT: '1' }, cwd: newDir() });
    expect(config.unknownVariables).toEqual(['FLEETQ_SLOT']);
  });
});

describe('machines', () => {
  test('are looked for in the config, then in machines/, and nowhere else', () => {
    const cwd = project({ 'machines/x.mjs': '' });
    expect(machinesPlace({ machines: 'here' }, cwd)).toEqual({
      from: join(cwd, 'here'),
      origin: 'config',
    });
    expect(machinesPlace({ machines: undefined }, cwd)?.origin).toBe('here');
    expect(machinesPlace({ machines: undefined }, MACHINES)).toBeUndefined();
  });

  test('in the repository of FleetQ itself the sources of the samples are not taken', () => {
    expect(machinesPlace({ machines: undefined }, process.cwd())).toBeUndefined();
  });

  test('every exported machine of every file counts, once', async () => {
    const cwd = project({
      'machines/deep/again.mjs': `export * from ${JSON.stringify(join(MACHINES, 'samples.mjs'))};`,
      'machines/readme.txt': 'not a module',
      'machines/x.test.mjs': 'throw new Error("tests are not machines")',
    });
    const { machines } = await loadMachines({ machines: undefined }, cwd);
    expect(machines.map(({ name }) => name).sort()).toEqual([
      'test/crashing',
      'test/failing',
      'test/gated',
      'test/quick',
      'test/sleeping',
    ]);
  });

  test.each<[string, Readonly<Record<string, string>>, RegExp]>([
    [
      'throws',
      { 'machines/a.mjs': 'throw new Error("oh")' },
      /machines\/a\.mjs cannot be loaded: oh/,
    ],
    [
      'imports what is not there',
      { 'machines/a.mjs': 'import "no-such"' },
      /a\.mjs cannot be loaded/,
    ],
  ])('a file that %s is named', async (_, files, words) => {
    await expect(loadMachines({ machines: undefined }, project(files))).rejects.toThrow(words);
  });

  test('links out of the directory, and links to nowhere, are refused', async () => {
    const out = project({ 'machines/a.mjs': '' });
    symlinkSync(join(MACHINES, 'samples.mjs'), join(out, 'machines', 'link.mjs'));
    await expect(loadMachines({ machines: undefined }, out)).rejects.toThrow('leads out of');
    const nowhere = project({ 'machines/a.mjs': '' });
    symlinkSync('gone.mjs', join(nowhere, 'machines', 'link.mjs'));
    await expect(loadMachines({ machines: undefined }, nowhere)).rejects.toThrow('leads nowhere');
  });

  test('a place that is not there is refused with what to correct', async () => {
    await expect(loadMachines({ machines: 'no' }, newDir())).rejects.toThrow('there is nothing at');
  });
});

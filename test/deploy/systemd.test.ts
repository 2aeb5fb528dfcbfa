/** The unit for systemd: its settings exist, its command exists, and it waits for the whole drain. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Exit } from '../../src/cli/exit.ts';
import { buildProgram } from '../../src/cli/program.ts';
import { STOP_SLACK_MS } from '../../src/cli/worker/worker.ts';
import { readConfig } from '../../src/config/index.ts';
import { parseDuration } from '../../src/ground/index.ts';
import { ROOT } from '../docs/markdown.ts';

const program = () => buildProgram(() => undefined);
const unit = readFileSync(join(ROOT, 'deploy/systemd/fleetq.service'), 'utf8');

function all(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1]!);
}

test('its variables are settings, and its data lies below the directory that systemd makes', async () => {
  const env = Object.fromEntries(all('Environment').map((pair) => pair.split('=', 2)));
  const config = await readConfig({ flags: {}, env, cwd: '/' });
  expect([Object.keys(env).length, config.unknownVariables]).toEqual([4, []]);
  expect(config.dataDir.startsWith(`/var/lib/${all('StateDirectory')[0]}/`)).toBe(true);
  const drainMs = parseDuration(config.drainBudget)! + STOP_SLACK_MS;
  expect(Number(all('TimeoutStopSec')[0]) * 1_000).toBeGreaterThanOrEqual(drainMs);
});

test('it calls a command that there is, and leaves alone what would fail again', () => {
  const [bin, command] = all('ExecStart')[0]!.split(' ');
  expect(bin).toMatch(/\/node_modules\/\.bin\/fleetq$/);
  expect(program().commands.map((each) => each.name())).toContain(command);
  expect(all('RestartPreventExitStatus')).toEqual([String(Exit.usage)]);
  expect(all('KillSignal')).toEqual(['SIGTERM']);
});

test('its machines lie in the project, where it says that they are to be put', () => {
  const [, command, ...args] = all('ExecStart')[0]!.split(' ');
  const worker = program().commands.find((each) => each.name() === command)!;
  const { unknown } = worker.parseOptions(args);
  const { machines } = worker.opts<{ machines?: string }>();
  const [project] = all('WorkingDirectory');
  expect([unknown, machines]).toEqual([[], `${project}/machines`]);
  const [head] = unit.split('[Unit]');
  expect(head).toContain(machines);
});

/** A process takes over from another on its host, in real processes: with a store and without. */
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { makePlace } from './fleet-support.ts';
import { fleetq } from './in-process.ts';
import { begin, type Call, fileAppears, MACHINES, makeDirectory } from './support.ts';

/** Long enough that a busy host does not look dead. */
const QUIET = { FLEETQ_SILENCE: '20s', FLEETQ_LOG_LEVEL: 'info', FLEETQ_LOG_FORMAT: 'json' };
/** Processes are started one after the other, on a host that may be busy. */
const PATIENCE_MS = 120_000;
vi.setConfig({ testTimeout: PATIENCE_MS });
const WAITS = /everything is ready: waiting for process (\d+)/;

interface Host {
  readonly cwd: string;
  worker(...args: string[]): Call;
  /** Gives it a run that stands in a phase until the gate is opened; answers its id. */
  gated(gate: string): Promise<string>;
  /** How that run has ended. */
  outputOf(id: string): Promise<unknown>;
}

async function alone(): Promise<Host> {
  const cwd = makeDirectory();
  const env = { ...QUIET, FLEETQ_MACHINES: MACHINES };
  const show = async (id: string) =>
    JSON.parse((await fleetq(cwd, ['run', id, '--json'])).stdout || '{}');
  return {
    cwd,
    worker: (...args) => begin(['worker', '--json', ...args], { cwd, env, timeoutMs: PATIENCE_MS }),
    gated: async (gate) => {
      const args = ['start', 'test/gated', '--input', JSON.stringify({ gate }), '--json'];
      return JSON.parse((await fleetq(cwd, args)).stdout).id;
    },
    outputOf: async (id) => {
      await expect.poll(async () => (await show(id)).status, LONG).toBe('completed');
      return (await show(id)).output;
    },
  };
}

async function inFleet(): Promise<Host> {
  const place = await makePlace();
  const env = { ...place.env, ...QUIET };
  return {
    cwd: place.cwd,
    worker: (...args) =>
      begin(['worker', '--json', ...args], { cwd: place.cwd, env, timeoutMs: PATIENCE_MS }),
    gated: async (gate) =>
      (await place.json('enqueue', 'test/gated', '--input', JSON.stringify({ gate }))).task,
    outputOf: async (id) => {
      const { code, stdout, stderr } = await place.run('wait', id, '--timeout', '60s');
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout);
    },
  };
}

const LONG = { timeout: 60_000, interval: 100 };
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

const isUp = (call: Call) => call.said(/"kind":"ready"/);

describe.each([
  ['without a store', alone],
  ['in a fleet', inFleet],
])('%s', (_, makeHost) => {
  test('the next process is ready before the one before is asked, and goes on with its runs', async () => {
    const host = await makeHost();
    const old = host.worker();
    await isUp(old);
    const gate = join(host.cwd, 'gate');
    const id = await host.gated(gate);
    await fileAppears(`${gate}.in`);
    const next = host.worker('--handover', '30s');
    const [, pid] = await next.said(WAITS);
    expect(Number(pid)).toBe(old.child.pid);
    await old.said(/draining: no new runs/);

    const second = await host.worker('--handover', '30s').ended;
    expect([second.code, second.stderr]).toEqual([
      5,
      expect.stringContaining('another process waits already'),
    ]);
    expect(old.child.exitCode, 'the phase in hand has its budget').toBeNull();
    writeFileSync(gate, '');
    expect((await old.ended).code).toBe(0);
    expect((await isUp(next))[0]).toBeDefined();
    expect(await host.outputOf(id)).toEqual({ worked: 1, persisted: 1 });
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });

  test('code that cannot be loaded takes nothing over, and nobody is asked', async () => {
    const host = await makeHost();
    const old = host.worker();
    await isUp(old);
    const bad = join(host.cwd, 'bad');
    mkdirSync(bad);
    writeFileSync(join(bad, 'bad.mjs'), 'export const x = ;');
    const next = await host.worker('--handover', '30s', '--machines', bad).ended;
    expect([next.code, next.stderr]).toEqual([2, expect.stringContaining('cannot be loaded')]);
    const gate = join(host.cwd, 'gate');
    writeFileSync(gate, '');
    expect(await host.outputOf(await host.gated(gate))).toEqual({ worked: 1, persisted: 1 });
    old.child.kill('SIGTERM');
    const { code, stderr } = await old.ended;
    expect(code).toBe(0);
    expect(stderr.match(/draining: no new runs/g)).toHaveLength(1);
  });

  test('whoever is killed in a handover, the runs go on', async () => {
    const host = await makeHost();
    const old = host.worker();
    await isUp(old);
    const gates = ['one', 'two'].map((name) => join(host.cwd, name));
    const ids = [await host.gated(gates[0]!), await host.gated(gates[1]!)];
    for (const gate of gates) await fileAppears(`${gate}.in`);
    const killed = host.worker('--handover', '30s');
    await killed.said(WAITS);
    killed.child.kill('SIGKILL');
    await killed.ended;

    const next = host.worker('--handover', '30s');
    await next.said(WAITS);
    // The phases it is in are never recorded: the next one begins them anew.
    old.child.kill('SIGKILL');
    await isUp(next);
    for (const gate of gates) writeFileSync(gate, '');
    for (const id of ids) expect(await host.outputOf(id)).toMatchObject({ worked: 2 });
    next.child.kill('SIGTERM');
    expect((await next.ended).code).toBe(0);
  });
});

test('probes move on to the next process, and a process that does not let go is named', async () => {
  const host = await alone();
  const port = await freePort();
  const old = host.worker('--health-listen', `127.0.0.1:${port}`);
  await isUp(old);
  const gate = join(host.cwd, 'gate');
  await host.gated(gate);
  await fileAppears(`${gate}.in`);
  const hasty = await host.worker('--handover', '300ms', '--health-listen', `127.0.0.1:${port}`)
    .ended;
  expect([hasty.code, hasty.stderr]).toEqual([
    5,
    expect.stringContaining(`is held by process ${old.child.pid}`),
  ]);
  const next = host.worker('--handover', '30s', '--health-listen', `127.0.0.1:${port}`);
  await next.said(WAITS);
  writeFileSync(gate, '');
  await isUp(next);
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  expect([answer.status, await answer.text()]).toEqual([200, 'ready\n']);
  expect(existsSync(join(host.cwd, '.fleetq', 'fleetq.sock'))).toBe(true);
  next.child.kill('SIGTERM');
  expect((await next.ended).code).toBe(0);
});

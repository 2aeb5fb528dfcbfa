/** Who may remove whose temporary files: those of the dead, found by their names; never of the living. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { createFleet, type FleetqEvents, listen, type Run } from 'fleetq';
import { expect, onTestFinished, test } from 'vitest';
import { type Host, namesUnder, startHost } from './image-host.ts';

const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);
const RUN = '01J00000000000000000000000';
const DAY_MS = 86_400_000;

function leaveBench(host: Host, name: string, ageMs = 0): string {
  const bench = join(host.home('tools'), 'tmp', name);
  mkdirSync(join(bench, 'version/tree'), { recursive: true });
  writeFileSync(join(bench, 'part'), 'half of somethi');
  const at = new Date(Date.now() - ageMs);
  utimesSync(bench, at, at);
  return name;
}

function benchesOf(host: Host): string[] {
  return namesUnder(join(host.home('tools'), 'tmp')).filter((name) => !name.includes('/'));
}

function deadPid(): number {
  return spawnSync(process.execPath, ['-e', '0']).pid;
}

/** Resolves with the first event that fits. */
function seen<N extends keyof FleetqEvents>(
  name: N,
  fits: (event: FleetqEvents[N]) => boolean = () => true,
): Promise<FleetqEvents[N]> {
  return new Promise((resolve) => {
    const stop = listen(name, (event) => {
      if (!fits(event)) return;
      stop();
      resolve(event);
    });
    onTestFinished(stop);
  });
}

test('benches of dead processes go, also where the pid lives again; others stay', async () => {
  const host = await startHost();
  leaveBench(host, `${RUN}.${HOST}-${deadPid()}-12345`);
  // Our parent lives, but it was not born at tick 1.
  leaveBench(host, `${RUN}.${HOST}-${process.ppid}-1`);
  leaveBench(host, `${RUN}.${HOST}-1-1.trash`);
  leaveBench(host, `${RUN}.00000000-1-1`, 2 * DAY_MS);
  const ofAnotherHost = leaveBench(host, `${RUN}.00000000-1-2`, DAY_MS / 2);
  const notABench = leaveBench(host, 'notes', 2 * DAY_MS);
  expect((await host.install('tools')).outcome).toBe('completed');
  expect(benchesOf(host)).toEqual([ofAnotherHost, notABench]);
});

test('a run that hands off everything still removes what dead runs left', async () => {
  const host = await startHost();
  await host.install('tools');
  leaveBench(host, `${RUN}.${HOST}-${deadPid()}-12345`);
  expect((await host.install('tools')).outcome).toBe('handedOff');
  expect(benchesOf(host)).toEqual([]);
});

test('a run that failed in this process is dead too: the next run removes its bench', async () => {
  const cut = { kind: 'cut', afterBytes: 50_000 } as const;
  const host = await startHost(
    { faultOf: (request) => (request === 0 ? cut : undefined) },
    {
      attemptMax: 1,
    },
  );
  const failed = await host.install('tools');
  expect(failed.outcome).toBe('exhausted');
  expect(benchesOf(host).map((name) => name.split('.')[0])).toEqual([failed.id]);
  expect((await host.install('tools')).outcome).toBe('completed');
  expect(benchesOf(host)).toEqual([]);
});

test('a cancel stops the download at once, and the next run removes its bench', async () => {
  const host = await startHost({ bytesPerSecondMax: 1_000_000, imageBytes: 4_000_000 });
  const run = await host.start(host.inputOf('tools'));
  await seen('run.progressed');
  expect(await run.cancel('enough')).toEqual({ isCancelled: true, outcome: 'cancelled' });
  expect(benchesOf(host)).toHaveLength(1);
  const site = { ...host.inputOf('site'), name: 'tools', url: `${host.registry.url}/missing` };
  expect((await host.install(site)).outcome).toBe('aborted');
  expect(benchesOf(host).map((name) => name.split('.')[0])).not.toContain(run.id);
});

test('two runs of one image at once leave each other alone, and both end well', async () => {
  const host = await startHost({ bytesPerSecondMax: 800_000 });
  const first = await host.start(host.inputOf('tools'));
  await seen('phase.started', ({ phase }) => phase === 'work');
  const second = await host.start(host.inputOf('tools'));
  await Promise.all([first.result({ timeout: '20s' }), second.result({ timeout: '20s' })]);
  for (const { id } of [first, second] as Run[]) {
    const kinds = host.fleet.events(id).map(({ event }) => event.type);
    expect(kinds).not.toContain('FAILED');
  }
  expect(benchesOf(host)).toEqual([]);
  expect(namesUnder(join(host.home('tools'), 'archives'))).toHaveLength(1);
});

test.each(['pull', 'unpack'])(
  'a bench that somebody clears right before %s.persist is filled again',
  async (step) => {
    const host = await startHost();
    const stop = listen('phase.started', (event) => {
      if (event.step !== step || event.phase !== 'persist') return;
      rmSync(join(host.home('tools'), 'tmp'), { recursive: true });
    });
    onTestFinished(stop);
    const summary = await host.install('tools');
    expect(summary.outcome).toBe('completed');
    expect(host.fleet.events(summary.id).map(({ event }) => event.type)).not.toContain('FAILED');
    expect(host.registry.requests).toHaveLength(step === 'pull' ? 2 : 1);
    expect(benchesOf(host)).toEqual([]);
  },
);

test('a download that a drain interrupts goes on in the next process where it stopped', async () => {
  const host = await startHost({ bytesPerSecondMax: 1_500_000, imageBytes: 1_000_000 });
  const run = await host.start(host.inputOf('tools'));
  await seen('run.progressed');
  expect(await host.fleet.drain({ budget: '10ms' })).toMatchObject({ unfinished: 1 });
  const next = await createFleet({
    machines: [host.machine],
    dataDir: join(dirname(host.root), 'data'),
  });
  await next.run(host.machine, run.id).result({ timeout: '20s' });
  expect(next.describe(run.id).outcome).toBe('completed');
  await next.drain({ budget: '1s' });
  expect(host.registry.requests.map(({ status }) => status)).toEqual([200, 206]);
  expect(benchesOf(host)).toEqual([]);
});

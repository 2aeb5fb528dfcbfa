/**
 * fleetq plan [--machines path] [--sample [n]] [--out file] [--json]: what would become of each run in
 * flight if every pod had these machines. It asks what pods ask when they take a run over, and writes
 * nothing. Ends with 9 where something would be blocked.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { type Config, pathFrom } from '../../config/index.ts';
import { changesSince, type ForecastPorts, LiveRoutes } from '../../fleet/index.ts';
import { systemClock } from '../../ground/index.ts';
import { type Plan, Registry, routeOf, type Tries } from '../../machine/index.ts';
import { isOwnMachine, type KnownRoute, type Store } from '../../store/index.ts';
import type { Execute, Options } from '../command.ts';
import { UsageError } from '../errors.ts';
import { Exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { loadMachines } from '../machines.ts';
import { countOf } from '../runs.ts';
import { codecFor, withStore } from './open.ts';
import { type Passed, type PlannedRun, planOfJournals, planOfStore } from './plan-runs.ts';
import { PlanTally } from './plan-tally.ts';
import { type Changed, showPlan } from './plan-view.ts';
import { Progress } from './progress.ts';

const SAMPLE_COUNT = 100;
const SAMPLE_MAX = 999_999_999;

export const plan: Execute = async ({ config, output, io }, options) => {
  const sampleMax = sampleOf(options['sample']);
  const { machines, from } = await loadMachines(config, config.cwd);
  const registry = new Registry([...machines]);
  output.note(`the machines of ${from}: ${registry.all().map(routeOf).join(', ')}`);
  const work = (store: Store | undefined) =>
    look(store, { config, io, registry, sampleMax, options });
  const report = await (config.store === undefined ? work(undefined) : withStore(config, work));
  showPlan(output, { ...report, hasStore: config.store !== undefined });
  return report.tally.isBad || report.changed.length > 0 ? Exit.planFoundBlocked : Exit.ok;
};

interface Looking {
  readonly config: Config;
  readonly io: Io;
  readonly registry: Registry;
  readonly sampleMax: number;
  readonly options: Options;
}

async function look(store: Store | undefined, looking: Looking) {
  const { config, io, registry, sampleMax, options } = looking;
  const known = (await store?.known()) ?? [];
  const ports: ForecastPorts = {
    registry,
    clock: systemClock,
    resultBytesMax: config.resultBytesMax,
    payloadBytesMax: config.resultBytesMax,
    tries: upTo(sampleMax),
    shapes: new Map(known.map(({ route, shape }) => [route, shape])),
    stays: isIn(await stayingRoutes(store, options['staying'])),
  };
  const tally = new PlanTally();
  const passed: Passed = { held: 0 };
  const reportOf = () => ({ tally, passed, changed: changedIn(known, registry), sampleMax });
  const lines = linesOf(options['out'], config.cwd);
  const progress = new Progress('-', 'runs looked at', systemClock, io);
  try {
    const here = new Set<string>();
    const take = async (run: PlannedRun) => {
      tally.add(run);
      await lines?.write(run);
      progress.advance(tally.runs, 0);
    };
    await planOfJournals(ports, config, passed, (run) => {
      here.add(run.run);
      return take(run);
    });
    if (!store) return reportOf();
    for await (const run of planOfStore(ports, store, (id) => here.has(id), codecFor(config)))
      await take(run);
    return reportOf();
  } finally {
    progress.end();
    await lines?.end();
  }
}

/** So many upgrades of each machine are tried, whatever version they come from. */
function upTo(countMax: number): Tries {
  const tried = new Map<Plan, number>();
  return (plan) => {
    const count = tried.get(plan) ?? 0;
    tried.set(plan, count + 1);
    return count < countMax;
  };
}

function isIn(routes: readonly string[]): (route: string) => boolean {
  const set = new Set(routes);
  return (route) => set.has(route);
}

/** What pods that the deploy leaves alone can run. */
async function stayingRoutes(store: Store | undefined, names: unknown): Promise<readonly string[]> {
  if (names === undefined) return [];
  const wanted = String(names).split(',');
  const pods = ((await store?.pods()) ?? []).filter(({ status }) => status === 'up');
  const missing = wanted.find((name) => !pods.some((pod) => pod.name === name));
  if (missing !== undefined) {
    throw new UsageError(`--staying: no pod that is up is called ${missing}`, {
      hint: 'list their names with: fleetq pods',
    });
  }
  return new LiveRoutes(pods.filter(({ name }) => wanted.includes(name))).routes;
}

/** Pods with these would not join: the fleet knows others under the same version. */
function changedIn(known: readonly KnownRoute[], registry: Registry): Changed[] {
  const before = new Map(known.map((route) => [route.route, route]));
  return registry.all().flatMap((plan) => {
    const route = routeOf(plan);
    const was = before.get(route);
    if (!was || was.fingerprint === plan.fingerprint) return [];
    return isOwnMachine(route) ? [] : [{ route, changes: changesSince(was, plan) }];
  });
}

function sampleOf(text: Options[string]): number {
  if (text === undefined) return 0;
  if (text === true) return SAMPLE_COUNT;
  return text === 'all' ? SAMPLE_MAX : countOf(text, '--sample', SAMPLE_MAX);
}

/** A file of one JSON object a line, written as fast as it is taken. */
function linesOf(file: Options[string], cwd: string) {
  if (file === undefined) return undefined;
  const stream = createWriteStream(pathFrom(cwd, String(file)));
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure = error;
  });
  const refuse = () => {
    if (failure) throw new UsageError(`--out cannot be written: ${failure.message}`);
  };
  return {
    async write(run: PlannedRun): Promise<void> {
      refuse();
      if (!stream.write(`${JSON.stringify(run)}\n`)) await once(stream, 'drain');
    },
    async end(): Promise<void> {
      await new Promise<void>((resolve) => {
        stream.once('error', () => resolve());
        stream.end(resolve);
      });
      refuse();
    },
  };
}

/**
 * Many pods that call one API as fast as it allows, in virtual time, with the controllers of src/throttle
 * as they are; beside them what others do. True capacity is known, so goodput is a share of it. The seeds
 * that report here are others than those that the controllers were tuned with (1 to 299).
 */
import { systemClock, systemRandom } from '../src/ground/index.ts';
import { policyOf, Throttle } from '../src/throttle/index.ts';
import { say } from './child.ts';
import { median } from './engine.ts';
import { API_KINDS, type ApiKind } from './throttle/apis.ts';
import { BASELINES, type BaselineName } from './throttle/baselines.ts';
import { more } from './throttle/more.ts';
import { drawPlots, type Table } from './throttle/plots.ts';
import { Scene } from './throttle/scene.ts';

const POD_COUNTS = [1, 8, 64] as const;
const MANY_PODS = 512;
const SEEDS = [301, 302, 303, 304, 305] as const;
/** The default of a pod; and the one that the targets were set for. */
const BEAT_MS = 3_000;
const BEAT_MS_FAST = 2_000;
const WARM_S = 120;
const UNTIL_S = 240;
const ROUNDS = 7;
const CALLS = 200_000;

type By = 'ours' | BaselineName;
interface Steady {
  readonly goodput: number;
  readonly rejected: number;
  readonly jain: number;
  readonly timeouts: number;
  readonly p95Ms: number;
}

/** `plotsTo`: pictures of it are drawn there. */
export async function benchThrottle(
  seeds: readonly number[] = SEEDS,
  plotsTo?: string | undefined,
): Promise<object> {
  const baselines: Record<string, Table> = {};
  for (const name of Object.keys(BASELINES) as BaselineName[]) {
    baselines[name] = table(name, BEAT_MS, seeds.slice(0, 1));
  }
  const ours = table('ours', BEAT_MS, seeds);
  if (plotsTo !== undefined) drawPlots(plotsTo, { ours, ...baselines });
  return {
    bench: 'throttle',
    node: process.version,
    seeds,
    heartbeatMs: BEAT_MS,
    default: ours,
    heartbeat2s: table('ours', BEAT_MS_FAST, seeds),
    pods512: many(seeds),
    baselines,
    events: beside(seeds.slice(0, 1)),
    join8to64: join(seeds, BEAT_MS),
    halved: halved(seeds, BEAT_MS),
    heartbeat2sEvents: {
      join8to64: join(seeds, BEAT_MS_FAST),
      halved: halved(seeds, BEAT_MS_FAST),
      outage: outage(seeds, BEAT_MS_FAST),
    },
    outage: outage(seeds, BEAT_MS),
    killed: killed(seeds, BEAT_MS),
    ...more(seeds, BEAT_MS_FAST),
    acquireReleaseNs: acquireReleaseNs(),
  };
}

/** Far more pods than permits: the product's own law alone, since the others need no second look. */
function many(seeds: readonly number[]): Record<ApiKind, Steady> {
  const byKind = API_KINDS.map((kind) => [
    kind,
    steady('ours', kind, MANY_PODS, BEAT_MS, seeds.slice(0, 1)),
  ]);
  return Object.fromEntries(byKind);
}

function table(by: By, beatMs: number, seeds: readonly number[]): Table {
  const byCount = POD_COUNTS.map((pods) => {
    const byKind = API_KINDS.map((kind) => [kind, steady(by, kind, pods, beatMs, seeds)] as const);
    return [`${pods}`, Object.fromEntries(byKind)] as const;
  });
  return Object.fromEntries(byCount);
}

function steady(
  by: By,
  kind: ApiKind,
  pods: number,
  beatMs: number,
  seeds: readonly number[],
): Steady {
  const found = seeds.map((seed) => {
    const scene = new Scene({ kind, pods, seed, by, beatMs });
    scene.runTo(UNTIL_S);
    return scene.figures(WARM_S, UNTIL_S);
  });
  const mean = (key: keyof Steady) =>
    rounded(found.reduce((all, figures) => all + figures[key], 0) / found.length);
  const figures = {
    goodput: mean('goodput'),
    rejected: mean('rejected'),
    jain: mean('jain'),
    timeouts: mean('timeouts'),
    p95Ms: mean('p95Ms'),
  };
  say(`${by}, ${pods} pods, ${kind}: goodput ${figures.goodput}, rejected ${figures.rejected}`);
  return figures;
}

const REFUSING = ['inflight', 'quota'] as const;

interface Whose {
  readonly by: By;
  readonly kinds: readonly ApiKind[];
}
const OURS: Whose = { by: 'ours', kinds: REFUSING };

/** What becomes of every kind of API when pods join, and when half of it goes and comes back. */
function beside(seeds: readonly number[]): object {
  const laws = ['ours', ...Object.keys(BASELINES)] as By[];
  const all = laws.map((by) => {
    const byKind = API_KINDS.map((kind) => {
      const whose = { by, kinds: [kind] };
      const join8to64 = join(seeds, BEAT_MS, whose);
      return [kind, { join8to64, halved: halved(seeds, BEAT_MS, whose) }];
    });
    return [by, Object.fromEntries(byKind)];
  });
  return Object.fromEntries(all);
}

function scenes(seeds: readonly number[], pods: number, beatMs: number, whose = OURS): Scene[] {
  return whose.kinds.flatMap((kind) =>
    seeds.map((seed) => {
      const scene = new Scene({ kind, pods, seed, by: whose.by, beatMs });
      scene.runTo(WARM_S);
      return scene;
    }),
  );
}

/** 56 pods join 8 at once. */
function join(seeds: readonly number[], beatMs: number, whose = OURS): object {
  const found = scenes(seeds, 8, beatMs, whose).map((scene) => {
    const before = scene.peak(WARM_S - 30, WARM_S);
    scene.join(56);
    scene.runTo(WARM_S + 15);
    const { rejected } = scene.figures(WARM_S, WARM_S + 15);
    return { peak: scene.peak(WARM_S, WARM_S + 15), before, rejected };
  });
  const figures = {
    peak: rounded(median(found.map(({ peak }) => peak))),
    peakMax: rounded(Math.max(...found.map(({ peak }) => peak))),
    peakBefore: rounded(median(found.map(({ before }) => before))),
    rejected: rounded(median(found.map(({ rejected }) => rejected))),
  };
  const { by, kinds } = whose;
  say(`${by}, ${kinds}, 56 pods join 8: peak ${figures.peak}, at most ${figures.peakMax}`);
  return figures;
}

/** Half of the capacity goes, and comes back later. */
function halved(seeds: readonly number[], beatMs: number, whose = OURS): object {
  const beatS = beatMs / 1_000;
  const backAt = WARM_S + 60;
  const endAt = backAt + 120;
  const found = scenes(seeds, 64, beatMs, whose).map((scene) => {
    scene.api.scale = 0.5;
    scene.runTo(backAt);
    const { goodput, timeouts } = scene.figures(WARM_S, backAt);
    const clean = scene.cleanFrom(WARM_S, backAt, 2 * beatS, 0.01) ?? backAt;
    const { rejected } = scene.figures(WARM_S, WARM_S + 20);
    scene.api.scale = 1;
    scene.runTo(endAt);
    const good = scene.goodFrom(backAt, endAt, 2 * beatS, 0.9) ?? endAt;
    const doubled = (good - backAt) / beatS;
    return { clean: (clean - WARM_S) / beatS, rejected, doubled, goodput, timeouts };
  });
  const figures = {
    cleanAfterHeartbeats: rounded(median(found.map(({ clean }) => clean))),
    cleanAfterHeartbeatsMax: rounded(Math.max(...found.map(({ clean }) => clean))),
    rejectedFirst20s: rounded(median(found.map(({ rejected }) => rejected))),
    doubledBackAfterHeartbeats: rounded(median(found.map(({ doubled }) => doubled))),
    // An API that lets calls wait refuses none: it is by these that it is seen to have too many.
    goodputHalved: rounded(median(found.map(({ goodput }) => goodput))),
    timeoutsHalved: rounded(median(found.map(({ timeouts }) => timeouts))),
  };
  const { by, kinds } = whose;
  say(`${by}, ${kinds}, halved: ${JSON.stringify(figures)}`);
  return figures;
}

/** The API fails every call for half a minute. */
function outage(seeds: readonly number[], beatMs: number): object {
  const found = scenes(seeds, 64, beatMs).map((scene) => {
    const { perSecond } = scene.api;
    scene.api.scale = 0;
    scene.runTo(WARM_S + 30);
    scene.api.scale = 1;
    scene.runTo(WARM_S + 90);
    const { sent } = scene.figures(WARM_S + 10, WARM_S + 30);
    const back = scene.goodFrom(WARM_S + 30, WARM_S + 90, 4, 0.9) ?? WARM_S + 90;
    const { rejected } = scene.figures(WARM_S + 30, WARM_S + 90);
    return { sent: sent / 20 / perSecond, backAfterS: back - WARM_S - 30, rejected };
  });
  const figures = {
    sentWhileOpen: rounded(median(found.map(({ sent }) => sent))),
    backAfterS: median(found.map(({ backAfterS }) => backAfterS)),
    backAfterSMax: Math.max(...found.map(({ backAfterS }) => backAfterS)),
    rejectedAfter: rounded(Math.max(...found.map(({ rejected }) => rejected))),
  };
  say(`outage: back after ${figures.backAfterS} s`);
  return figures;
}

/** 56 of 64 pods die without a word. */
function killed(seeds: readonly number[], beatMs: number): object {
  const found = scenes(seeds, 64, beatMs).map((scene) => {
    scene.leave(56);
    scene.runTo(WARM_S + 60);
    const back = scene.goodFrom(WARM_S, WARM_S + 60, 4, 0.9) ?? WARM_S + 60;
    return { peak: scene.peak(WARM_S, WARM_S + 60), backAfterS: back - WARM_S };
  });
  return {
    peakMax: rounded(Math.max(...found.map(({ peak }) => peak))),
    backAfterS: median(found.map(({ backAfterS }) => backAfterS)),
  };
}

/** What a permit costs that is there, in time of the CPU: taken and given back, by the real clock. */
function acquireReleaseNs(): number {
  const policy = policyOf('bench', { adaptive: true, start: 100 });
  const throttle = new Throttle(policy, { clock: systemClock, random: systemRandom });
  const options = { priority: 'normal', cost: 1 } as const;
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage();
    for (let call = 0; call < CALLS; call++) {
      throttle.release(throttle.tryAcquire(options)!, { kind: 'ok' });
    }
    const { user, system } = process.cpuUsage(before);
    return ((user + system) * 1_000) / CALLS;
  });
  const ns = Math.round(median(rounds));
  say(`acquire and release: ${ns} ns`);
  return ns;
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

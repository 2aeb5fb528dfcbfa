/**
 * What else the default is held to: APIs that say what they take, limits that were declared, pods of which few
 * have anything to do, a beginning without any knowledge, and what it costs whoever leads.
 */
import { encodeReport } from '../../src/throttle/fleet/wire.ts';
import { Chief, type PublishedRow, policyOf, type ReportRow } from '../../src/throttle/index.ts';
import { say } from '../child.ts';
import { median } from '../engine.ts';
import { TELLING_KINDS, type TellingKind } from './apis.ts';
import { Scene, type SceneOptions } from './scene.ts';

const WARM_S = 120;
const UNTIL_S = 240;
const LEADER_PODS = 512;
const LEADER_APIS = 20;
const LEADER_TICKS = 40;
/** Before that it is not compiled: whoever leads does so for hours. */
const LEADER_WARM_TICKS = 20;

export function more(seeds: readonly number[], beatMs: number): object {
  const found = {
    headers: Object.fromEntries(
      TELLING_KINDS.map((kind) => {
        const figures = steady(seeds, { kind, pods: 64, beatMs });
        return [kind, { ...figures, ...doubled(kind, seeds, beatMs) }];
      }),
    ),
    declared: {
      inflight: steady(seeds, {
        ...{ kind: 'inflight', pods: 64, beatMs },
        throttle: { adaptive: false, limits: { inFlight: 50 } },
      }),
      quota: steady(seeds, {
        ...{ kind: 'quota', pods: 64, beatMs },
        throttle: { adaptive: false, limits: { perSecond: 100 } },
      }),
    },
    busy16of64: {
      inflight: steady(seeds, { kind: 'inflight', pods: 64, busy: 16, beatMs }),
      quota: steady(seeds, { kind: 'quota', pods: 64, busy: 16, beatMs }),
    },
    cold: cold(seeds, beatMs),
    leaderTickMs: leaderTickMs(beatMs),
  };
  for (const [name, figures] of Object.entries(found)) say(`${name}: ${JSON.stringify(figures)}`);
  return found;
}

function steady(seeds: readonly number[], options: Omit<SceneOptions, 'seed' | 'by'>) {
  const found = seeds.map((seed) => {
    const scene = new Scene({ ...options, seed, by: 'ours' });
    scene.runTo(UNTIL_S);
    return scene.figures(WARM_S, UNTIL_S);
  });
  const mean = (key: 'goodput' | 'rejected') =>
    rounded(found.reduce((all, figures) => all + figures[key], 0) / found.length);
  return { goodput: mean('goodput'), rejected: mean('rejected') };
}

/** Twice the quota from one window on: how soon the pods use it, where the API says so. */
function doubled(kind: TellingKind, seeds: readonly number[], beatMs: number) {
  const beatS = beatMs / 1_000;
  const found = seeds.map((seed) => {
    const scene = new Scene({ kind, pods: 64, seed, by: 'ours', beatMs });
    scene.api.scale = 0.5;
    scene.runTo(WARM_S);
    scene.api.scale = 1;
    scene.runTo(UNTIL_S);
    const good = scene.goodFrom(WARM_S, UNTIL_S, 2 * beatS, 0.9) ?? UNTIL_S;
    return (good - WARM_S) / beatS;
  });
  return { doubledAfterHeartbeats: rounded(median(found)) };
}

/** 64 pods that know nothing of an API begin to call it. */
function cold(seeds: readonly number[], beatMs: number) {
  const found = (['inflight', 'quota'] as const).flatMap((kind) =>
    seeds.map((seed) => {
      const scene = new Scene({ kind, pods: 64, seed, by: 'ours', beatMs });
      scene.runTo(90);
      const over = scene.seconds(0, 90).filter(({ sent, capacity }) => sent > 1.2 * capacity);
      return {
        atS: scene.goodFrom(0, 90, 4, 0.9) ?? 90,
        peak: scene.peak(0, 90),
        overS: over.length,
      };
    }),
  );
  return {
    goodAfterS: median(found.map(({ atS }) => atS)),
    peakMax: rounded(Math.max(...found.map(({ peak }) => peak))),
    overSMax: Math.max(...found.map(({ overS }) => overS)),
  };
}

/** What one look of whoever leads costs the processor, where all pods call all APIs. */
function leaderTickMs(beatMs: number): number {
  const scene = new Scene({ kind: 'inflight', pods: LEADER_PODS, seed: 301, by: 'ours', beatMs });
  const chief = new Chief((api) => policyOf(api, { adaptive: true }));
  const found: number[] = [];
  let rows: PublishedRow[] = [];
  for (let tick = 1; tick <= LEADER_TICKS; tick++) {
    scene.runTo((20 * beatMs) / 1_000 + (tick * beatMs) / 1_000);
    const reports = [...scene.fleet!.reports].map(([pod, report]): ReportRow => {
      const sent = encodeReport(report);
      const apis = Array.from({ length: LEADER_APIS }, (_, index) => [`api-${index}`, sent]);
      return { pod, ageMs: scene.world.now - report.atMs, throttles: Object.fromEntries(apis) };
    });
    const before = process.cpuUsage();
    const words = chief.look({ rows, reports, nowMs: scene.world.now, beatMs, chance: () => 0.5 });
    const { user, system } = process.cpuUsage(before);
    found.push((user + system) / 1_000);
    rows = words.map(({ api, epoch, state }) => {
      return { api, epoch: epoch + 1, state, ageMs: 0, pinned: undefined };
    });
  }
  return rounded(median(found.slice(LEADER_WARM_TICKS)));
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}

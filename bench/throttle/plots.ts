/** What the simulation of throttles shows, as pictures: of one seed each, and of the tables of all. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '../child.ts';
import { type ApiKind, PER_SECOND } from './apis.ts';
import { Scene } from './scene.ts';
import { barChart, type LineChart, lineChart } from './svg.ts';

const SEED = 301;
const WARM_S = 120;
const COLORS = ['#3b4bd8', '#c9742b', '#8a8f9e', '#2f8f83', '#b03a5b'];
const NAMES: Readonly<Record<string, string>> = {
  ours: 'FleetQ',
  seedAimd: 'AIMD',
  vectorArc: 'ARC',
  netflixGradient2: 'Gradient2',
  awsCubic: 'CUBIC',
};

/** By the count of pods, by the kind of API. */
export type Table = Readonly<
  Record<string, Readonly<Record<string, { readonly goodput: number; readonly rejected: number }>>>
>;

export function drawPlots(directory: string, tables: Readonly<Record<string, Table>>): string[] {
  mkdirSync(directory, { recursive: true });
  const pictures: Readonly<Record<string, string>> = {
    'throttle-steady': bars(tables, 'goodput', 'What 64 pods get out of an API of known capacity'),
    'throttle-refused': bars(tables, 'rejected', 'What of their calls is refused meanwhile'),
    'throttle-halved': halved(),
    'throttle-outage': outage(),
    'throttle-join': join56(),
  };
  return Object.entries(pictures).map(([name, text]) => {
    const file = join(directory, `${name}.svg`);
    writeFileSync(file, text);
    say(`${file} ${Math.round(text.length / 1_024)} kB`);
    return file;
  });
}

function bars(
  tables: Readonly<Record<string, Table>>,
  key: 'goodput' | 'rejected',
  title: string,
): string {
  const laws = Object.keys(NAMES).filter((law) => law in tables);
  const words: Record<ApiKind, string> = {
    inflight: 'so many at once',
    quota: 'so many a second',
    queueing: 'lets calls wait',
    charging: 'charges for refusals',
  };
  return barChart({
    title,
    about: key === 'goodput' ? 'answered calls, of what the API could answer' : 'of all calls sent',
    names: laws.map((law) => NAMES[law]!),
    colors: COLORS,
    groups: (Object.entries(words) as [ApiKind, string][]).map(([kind, name]) => ({
      name,
      values: laws.map((law) => tables[law]!['64']![kind]![key]),
    })),
  });
}

function halved(): string {
  const scene = sceneOf('quota', 64);
  scene.api.scale = 0.5;
  scene.runTo(WARM_S + 60);
  scene.api.scale = 1;
  scene.runTo(WARM_S + 180);
  return lineChart({
    title: '64 pods, and an API that halves its capacity and gives it back',
    ...seen(scene, WARM_S - 20, WARM_S + 180),
    marks: [
      { at: WARM_S, text: 'half' },
      { at: WARM_S + 60, text: 'whole again' },
    ],
  });
}

function outage(): string {
  const scene = sceneOf('inflight', 64);
  scene.api.scale = 0;
  scene.runTo(WARM_S + 30);
  scene.api.scale = 1;
  scene.runTo(WARM_S + 80);
  return lineChart({
    title: '64 pods, and an API that fails for half a minute',
    ...seen(scene, WARM_S - 20, WARM_S + 80),
    marks: [
      { at: WARM_S, text: 'fails' },
      { at: WARM_S + 30, text: 'is well' },
    ],
  });
}

function join56(): string {
  const scene = sceneOf('inflight', 8);
  scene.join(56);
  scene.runTo(WARM_S + 60);
  return lineChart({
    title: '56 pods join 8, all at once',
    ...seen(scene, WARM_S - 20, WARM_S + 60),
    marks: [{ at: WARM_S, text: '56 more' }],
  });
}

function sceneOf(kind: ApiKind, pods: number): Scene {
  const scene = new Scene({ kind, pods, seed: SEED, by: 'ours', beatMs: 3_000 });
  scene.runTo(WARM_S);
  return scene;
}

function seen(scene: Scene, from: number, until: number): Omit<LineChart, 'title' | 'marks'> {
  const seconds = scene.seconds(from, until);
  return {
    about: `heartbeats of 3 s, an API of ${PER_SECOND} calls a second`,
    unit: 'calls a second',
    from,
    lines: [
      { name: 'could', color: '#8a8f9e', isLimit: true, values: seconds.map((at) => at.capacity) },
      { name: 'answered', color: '#3b4bd8', values: seconds.map(({ ok }) => ok) },
      {
        name: 'refused or failed',
        color: '#c0392b',
        values: seconds.map(({ throttled, failure }) => throttled + failure),
      },
    ],
  };
}

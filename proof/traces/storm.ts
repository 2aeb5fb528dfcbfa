/** Many runs over several pods of which one after the other is killed, and what their traces say. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { type Pod, Stage } from '../../test/telemetry/stage.ts';
import { judgeTraces, type Verdict } from './trace-judge.ts';

export interface StormOptions {
  readonly runs: number;
  readonly pods: number;
  readonly kills: number;
  readonly seed: number;
  readonly secondsMax: number;
}

export interface StormReport extends Verdict {
  readonly kills: number;
  readonly seconds: number;
}

const PAGE_COUNT = 500;

export async function runStorm(options: StormOptions): Promise<StormReport> {
  const begun = Date.now();
  const stage = await Stage.open({ FLEETQ_SLOTS: '16', FLEETQ_ARCHIVE: '1s' });
  try {
    const names = Array.from({ length: options.pods }, (_, index) => `pod-${index + 1}`);
    const pods = new Map<string, Pod>();
    await Promise.all(names.map(async (name) => pods.set(name, await stage.worker(name))));
    const file = join(stage.directory, 'runs.jsonl');
    const lines = Array.from({ length: options.runs }, (_, n) => `{"input":{"n":${n},"ms":150}}`);
    writeFileSync(file, lines.join('\n'));
    await stage.run(['enqueue', 'errand', '--file', file]);
    const kills = await killSome(stage, pods, options);
    await stage.until(
      'all have ended',
      async () => {
        const left = await stage.store.list({ isInFlight: true, countMax: 1 });
        return left.length === 0 ? true : undefined;
      },
      options.secondsMax * 1_000,
    );
    for (const { child } of pods.values()) child.kill('SIGTERM');
    await Promise.all([...pods.values()].map(({ ended }) => ended));
    const verdict = await judgeTraces(stage.store, await tasksOf(stage), await stage.spans());
    return { kills, seconds: Math.round((Date.now() - begun) / 100) / 10, ...verdict };
  } finally {
    await stage.close();
  }
}

/** Each at a moment by chance; it comes back on its own disk a little later, or when it was swept. */
async function killSome(
  stage: Stage,
  pods: Map<string, Pod>,
  { kills, seed }: StormOptions,
): Promise<number> {
  const random = seededRandom(seed);
  let count = 0;
  const back: Promise<unknown>[] = [];
  for (; count < kills; count++) {
    await sleep(200 + random.fraction() * 400);
    if ((await stage.store.list({ isInFlight: true, countMax: 1 })).length === 0) break;
    const names = [...pods.keys()];
    const name = names[Math.floor(random.fraction() * names.length)]!;
    const pod = pods.get(name)!;
    pods.delete(name);
    pod.child.kill('SIGKILL');
    await pod.ended;
    const away = random.fraction() < 0.5 ? 0 : 2_500;
    const again = sleep(away).then(async () => pods.set(name, await stage.worker(name)));
    back.push(again);
    if (pods.size < 2) await again;
  }
  await Promise.all(back);
  return count;
}

/** Only those that were wanted: the fleet's own runs stay in their journals. */
async function tasksOf(stage: Stage) {
  const tasks = [];
  let before: string | undefined;
  for (;;) {
    const page = await stage.store.list({ machine: 'errand', before, countMax: PAGE_COUNT });
    tasks.push(...page);
    if (page.length < PAGE_COUNT) return tasks;
    before = page.at(-1)!.id;
  }
}

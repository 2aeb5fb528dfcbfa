/** F3: clones of a volume are started while the original lives, under supervisors that start them again. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startClones } from './clones.ts';
import type { Pod } from './pods.ts';
import { atLeast, atMost, exactly, type Promised, says } from './promised.ts';
import { HEARTBEAT_MS, SILENCE_MS, type Stage } from './stage.ts';
import type { Supervised } from './supervised.ts';
import { makeVolume } from './volume.ts';

export interface CloneCase {
  readonly clones: number;
  readonly tasks: number;
  /** Local runs before the clones are made, and as many after. */
  readonly local: number;
  readonly watchMs: number;
}

const WORK_MS = 4_000;
/** Locals that are in flight when the volume is cloned: every clone has them as started. */
const LOCAL_MS = 15_000;
const SLOTS = 24;
/** A process that starts waits for two answers about its rival a heartbeat apart before it says so. */
const SAID_MS = 5 * HEARTBEAT_MS + SILENCE_MS;
const PROBE_MS = 1_000;
const ADOPT = /fleetq journal adopt/;

export async function volumeClone(stage: Stage, of: CloneCase): Promise<Promised[]> {
  const volume = await makeVolume(stage.directory);
  stage.atEnd(() => volume.remove());
  const dataDir = join(volume.directory, 'data');
  const home = { podName: 'alder', dataDir, inside: volume.inside, slots: SLOTS };
  const alder = await stage.pod(home);
  const ids = await alder.ask<string[]>('enqueue', { count: of.tasks, ms: WORK_MS });
  const early = await alder.ask<string[]>('start', { count: of.local, ms: LOCAL_MS });
  await sleep(2 * HEARTBEAT_MS);
  const { journal } = await alder.look();

  const clones = await startClones(stage, volume, {
    podName: 'alder',
    count: of.clones,
    slots: SLOTS,
  });
  const local = [...early];
  const seen = await watch({ stage, of, alder, clones, local });
  const tasksMs = await stage.msUntilDone(ids, of.watchMs + 120_000);
  await sleep(LOCAL_MS / 3);
  // From here on what becomes of clones whose original ends is not looked at.
  const lives = await stage.count('pod_health where journal_id = $1', [journal]);
  const dead = `pod_health where journal_id = $1 and status in ('dead', 'down')`;
  const died = await stage.count(dead, [journal]);
  const clonePids = clones.flatMap(({ pids }) => pids);
  const [started, worked] = [stage.noted('started'), stage.noted('worked')];
  const ends = clones.map(({ deaths }) => deaths).reduce((sum, count) => sum + count, 0);
  const spent = await stage.count(
    `step_tracker where task_id = any ($1) and (crashes > 0 or retry_count > 0 or claims > 1)`,
    [ids],
  );
  return [
    atMost('deaths of pods in the store', of.clones + 1, died),
    atMost('registrations', of.clones + 2, lives),
    exactly('ends of clones that no one asked for', 0, ends),
    exactly('the original is up', true, alder.isUp),
    exactly('tasks failed', 0, await stage.countOf(ids, 'failed')),
    exactly('tasks completed', of.tasks, await stage.countOf(ids, 'completed')),
    atMost('ms until all were, after the watch', 120_000, tasksMs),
    exactly('tasks that were claimed twice, or were charged', 0, spent),
    exactly('local runs done', local.length, local.filter((id) => worked.has(id)).length),
    exactly('local runs started twice', 0, local.filter((id) => started.get(id) !== 1).length),
    exactly('phases that clones started', 0, stage.notedBy(clonePids, 'started')),
    exactly('clones up', of.clones, clones.filter(({ isUp }) => isUp).length),
    atLeast('probes of clones answered', of.clones * 5, seen.answered),
    exactly('probes that called a clone ready', 0, seen.ready),
    exactly('probes that did not name the command', 0, seen.silent),
    ...clones.map(({ log }, at) => says(`the log of clone ${at + 1}`, ADOPT, lineWith(log))),
  ];
}

interface Watched {
  readonly stage: Stage;
  readonly of: CloneCase;
  readonly alder: Pod;
  readonly clones: readonly Supervised[];
  readonly local: string[];
}

/** Probes them all the while; each of them is killed once, and local runs are started on the original. */
async function watch({ of, alder, clones, local }: Watched) {
  const seen = { answered: 0, ready: 0, silent: 0 };
  const sinceMs = performance.now();
  const mayBeSilentUntil = new Map(clones.map((clone) => [clone, sinceMs + SAID_MS]));
  let killed = 0;
  let started = 0;
  for (;;) {
    const gone = (performance.now() - sinceMs) / of.watchMs;
    if (gone >= 1) return seen;
    if (started < Math.floor(of.local * Math.min(1, gone * 2))) {
      started += 1;
      local.push(...(await alder.ask<string[]>('start', { count: 1, ms: LOCAL_MS / 5 })));
    }
    if (killed < clones.length && gone > (killed + 1) / (clones.length + 2)) {
      const clone = clones[killed++]!;
      await clone.kill();
      mayBeSilentUntil.set(clone, performance.now() + SAID_MS);
    }
    for (const clone of clones) {
      const answer = await clone.probe();
      if (!answer) continue;
      seen.answered += 1;
      if (answer.status === 200) seen.ready += 1;
      const isDue = performance.now() > mayBeSilentUntil.get(clone)!;
      if (isDue && !ADOPT.test(answer.text)) seen.silent += 1;
    }
    await sleep(PROBE_MS);
  }
}

/** The line that names the command, else the last that names an alarm. */
function lineWith(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => line.includes('in use by pod'));
  const message = (line: string | undefined) => /"msg":"([^"]*)"/.exec(line ?? '')?.[1] ?? line;
  return message(lines.find((line) => ADOPT.test(line)) ?? lines.at(-1));
}

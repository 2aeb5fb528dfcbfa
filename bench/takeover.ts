/**
 * How long a run stands still when its pod dies and takes its disk along: from the SIGKILL until
 * another pod is in the phase after the last one that the store has. Every other kill is of the pod
 * that leads, where somebody else must first become the leader.
 *
 * --kills N (of each silence), --silence 15s or 3s (only that one).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { systemRandom } from '../src/ground/index.ts';
import { say } from './child.ts';
import { quantile } from './fleet.ts';
import { wallMs } from './fleet-pods.ts';
import { type Call, TakeoverFleet, VoidError } from './takeover-fleet.ts';

interface Setting {
  readonly name: string;
  readonly silentMs: number;
  readonly heartbeatMs: number;
  readonly kills: number;
  readonly p99MsMax: number;
}

/** What one kill came to. */
interface Takeover {
  readonly isLeader: boolean;
  readonly times: readonly number[];
  readonly repeated: number;
}

/** The first is what a pod has where nothing is configured. */
const SETTINGS: readonly Setting[] = [
  { name: '15s', silentMs: 15_000, heartbeatMs: 3_000, kills: 12, p99MsMax: 20_000 },
  { name: '3s', silentMs: 3_000, heartbeatMs: 500, kills: 20, p99MsMax: 5_000 },
];
const RUNS_MIN = 10;
const GIVEN_MAX = 150;
/** Beyond the silence: so late that something is broken. */
const LATE_MS = 30_000;
/** What the store had of every run at the kill; a probe of `check` is no phase. */
const ARCHIVED: ReadonlySet<string> = new Set(['first.check', 'first.work', 'second.check']);

export async function benchTakeover(): Promise<object> {
  const found = new Map<Setting, Takeover[]>();
  for (const setting of settingsWanted()) found.set(setting, await takeovers(setting));
  const each = (figure: (takeovers: readonly Takeover[], setting: Setting) => unknown) =>
    Object.fromEntries([...found].map(([setting, all]) => [setting.name, figure(all, setting)]));
  const p99 = (all: readonly Takeover[]) => quantile(timesOf(all), 0.99);
  return {
    kills: each((all) => all.length),
    runs: each((all) => timesOf(all).length),
    repeated: each(repeatedIn),
    p50Ms: each((all) => quantile(timesOf(all), 0.5)),
    p99Ms: each(p99),
    maxMs: each((all) => Math.max(...timesOf(all))),
    wantedP99Ms: each((_, { p99MsMax }) => p99MsMax),
    ofLeaders: {
      kills: each((all) => all.filter(({ isLeader }) => isLeader).length),
      p99Ms: each((all) => p99(all.filter(({ isLeader }) => isLeader))),
    },
  };
}

function settingsWanted(): Setting[] {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string' },
      silence: { type: 'string' },
      json: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const wanted = SETTINGS.filter(({ name }) => (values.silence ?? name) === name);
  const kills = values.kills === undefined ? undefined : Number(values.kills);
  if (wanted.length === 0) throw new VoidError(`no silence ${values.silence}: use 15s or 3s`);
  if (kills !== undefined && !(Number.isInteger(kills) && kills >= 2)) {
    throw new VoidError(`--kills wants a whole number from 2, got ${values.kills}`);
  }
  return wanted.map((setting) => ({ ...setting, kills: kills ?? setting.kills }));
}

async function takeovers(setting: Setting): Promise<Takeover[]> {
  const { silentMs, heartbeatMs, kills } = setting;
  const fleet = await TakeoverFleet.start({ silence: silentMs, heartbeat: heartbeatMs });
  const all: Takeover[] = [];
  try {
    for (let kill = 1; kill <= kills; kill++) {
      await fleet.fill();
      const one = await takeover(fleet, setting, kill % 2 === 0);
      all.push(one);
      const slowest = Math.max(...one.times);
      const who = one.isLeader ? 'the leader' : 'another';
      say(`silence ${setting.name}, kill ${kill}: ${who}, ${one.times.length} runs, ${slowest} ms`);
    }
    await fleet.checkRules();
  } finally {
    // What went wrong before is worth more than what went wrong after.
    await fleet.stop().catch((error) => say(`the fleet did not stop: ${error}`));
  }
  if (repeatedIn(all) > 0) {
    say(`${repeatedIn(all)} archived phases were done again`);
    process.exitCode = 1;
  }
  return all;
}

async function takeover(
  fleet: TakeoverFleet,
  { silentMs, heartbeatMs }: Setting,
  isLeader: boolean,
): Promise<Takeover> {
  const pods = await fleet.byAge();
  const victim = isLeader ? pods[0] : pods.at(-1);
  const heir = isLeader ? pods[1] : pods[0];
  if (!victim || !heir) throw new VoidError(`there are only ${pods.length} pods`);
  // Whoever is to sweep has been heard for long enough to judge others.
  await sleep(Math.max(0, heir.readyAt + 2 * silentMs + 2 * heartbeatMs - wallMs()));
  const runs = await fleet.giveUntil(victim, RUNS_MIN, GIVEN_MAX);
  // Anywhere between two heartbeats.
  await sleep(systemRandom.fraction() * heartbeatMs);
  const killedAt = await fleet.kill(victim);
  const goneOn = await fleet.takenOver(runs, victim, silentMs + LATE_MS);
  await fleet.letGo();
  const times = goneOn.map((at) => Math.round(at - killedAt));
  return { isLeader, times, repeated: repeatsOf(fleet.calls, runs) };
}

function repeatsOf(calls: readonly Call[], runs: ReadonlySet<string>): number {
  const done = new Set<string>();
  let repeated = 0;
  for (const { run, place } of calls) {
    if (!runs.has(run) || !ARCHIVED.has(place)) continue;
    const one = `${run} ${place}`;
    if (done.has(one)) repeated++;
    done.add(one);
  }
  return repeated;
}

function repeatedIn(all: readonly Takeover[]): number {
  return all.reduce((sum, { repeated }) => sum + repeated, 0);
}

function timesOf(all: readonly Takeover[]): number[] {
  return all.flatMap(({ times }) => times);
}

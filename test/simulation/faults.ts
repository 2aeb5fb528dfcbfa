/**
 * What goes wrong, when and to whom: drawn from the seed, one fault after the other over the stormy
 * part of a simulation, and all of it put right at its end.
 */
import type { Cluster } from './cluster.ts';
import type { SimPod } from './sim-pod.ts';
import type { World } from './world.ts';

const TEN_YEARS_MS = 10 * 365 * 86_400_000;

type Fault = (cluster: Cluster, world: World) => void;

function someone(cluster: Cluster, world: World): SimPod | undefined {
  const alive = cluster.alive();
  return alive.length > 0 ? world.pick(alive) : undefined;
}

function onSomeone(act: (pod: SimPod, cluster: Cluster, world: World) => void): Fault {
  return (cluster, world) => {
    const pod = someone(cluster, world);
    if (pod) act(pod, cluster, world);
  };
}

const pause = onSomeone((pod, cluster, world) => {
  const ms = world.within(300, 9_000);
  world.say(pod.name, `is paused for ${ms.toFixed(0)} ms`);
  world.count('pauses');
  pod.process.pause();
  cluster.later(ms, () => {
    if (!pod.process.isDead) world.say(pod.name, 'goes on');
    pod.process.resume();
  });
});

const cutOff = onSomeone((pod, cluster, world) => {
  const ms = world.within(300, 9_000);
  world.say(pod.name, `is cut off for ${ms.toFixed(0)} ms`);
  world.count('partitions');
  pod.link.isCut = true;
  cluster.later(ms, () => {
    pod.link.isCut = false;
  });
});

const badLine = onSomeone((pod, cluster, world) => {
  world.say(pod.name, 'has a bad line');
  world.count('bad lines');
  Object.assign(pod.link, { refused: 0.1, inDoubt: 0.25, late: 0.1, latencyMs: 60 });
  cluster.later(world.within(1_000, 8_000), () => {
    Object.assign(pod.link, { refused: 0, inDoubt: 0, late: 0, latencyMs: 2 });
  });
});

const clockJump = onSomeone((pod, _, world) => {
  const byMs = (world.random.fraction() < 0.5 ? -1 : 1) * world.within(1_000, TEN_YEARS_MS);
  world.say(pod.name, `has its clock set by ${(byMs / 86_400_000).toFixed(1)} days`);
  world.count('clock jumps');
  pod.process.skewMs += Math.floor(byMs);
});

const fullDisk = onSomeone((pod, cluster, world) => {
  world.say(pod.name, 'has a full disk');
  world.count('full disks');
  pod.disk.isFull = true;
  cluster.later(world.within(500, 6_000), () => {
    pod.disk.isFull = false;
  });
});

const kill = onSomeone((pod) => pod.kill());

const dieInCommit = onSomeone((pod, _, world) => {
  pod.disk.nextFate = world.random.fraction() < 0.5 ? 'diesBefore' : 'diesAfter';
});

const losePower = onSomeone((pod, _, world) => {
  pod.kill();
  pod.disk.losePower();
  world.say(pod.name, 'had lost its power');
});

const rewind = onSomeone((pod, _, world) => {
  pod.kill();
  const lost = pod.disk.loseLast(Math.floor(world.within(1, 30)));
  world.say(pod.name, `has lost its last ${lost} transactions`);
  world.count('lost tails');
});

const drain = onSomeone((pod) => pod.drain());

const askToDrain: Fault = (cluster, world) => {
  const pod = someone(cluster, world);
  const row = world.tables.pods.get(pod?.member.pod.life?.id ?? '');
  if (!pod || row?.status !== 'up') return;
  world.say(pod.name, 'is asked to drain');
  row.desired = 'drain';
};

const massRestart: Fault = (cluster, world) => {
  world.say('world', 'everybody is killed');
  world.count('mass restarts');
  for (const pod of cluster.alive()) pod.kill();
};

const outage: Fault = (cluster, world) => {
  const ms = world.within(200, 8_000);
  world.say('store', `is away for ${ms.toFixed(0)} ms`);
  world.count('outages');
  cluster.weather.isCut = true;
  cluster.later(ms, () => {
    cluster.weather.isCut = false;
  });
};

const slowStore: Fault = (cluster, world) => {
  world.say('store', 'is slow and fails now and then');
  world.count('slow stores');
  Object.assign(cluster.weather, { refused: 0.05, inDoubt: 0.08, late: 0.03, latencyMs: 250 });
  cluster.later(world.within(1_000, 8_000), () => {
    Object.assign(cluster.weather, { refused: 0, inDoubt: 0, late: 0, latencyMs: 2 });
  });
};

const clone: Fault = (cluster, world) => {
  const pod = someone(cluster, world);
  if (pod) cluster.clone(pod);
};

/** How often each comes up. */
const FAULTS: readonly (readonly [Fault, number])[] = [
  [kill, 6],
  [pause, 6],
  [cutOff, 5],
  [badLine, 5],
  [dieInCommit, 4],
  [slowStore, 3],
  [drain, 3],
  [clockJump, 3],
  [fullDisk, 2],
  [outage, 2],
  [clone, 2],
  [losePower, 1],
  [rewind, 1],
  [askToDrain, 1],
  [massRestart, 0.5],
];

export function chooseFault(world: World): Fault {
  const sum = FAULTS.reduce((total, [, weight]) => total + weight, 0);
  let left = world.random.fraction() * sum;
  for (const [fault, weight] of FAULTS) {
    left -= weight;
    if (left < 0) return fault;
  }
  return kill;
}

/**
 * What goes wrong, when and to whom: drawn from the seed, one fault after the other over the stormy
 * part of a simulation, and all of it put right at its end.
 */
import type { Cluster } from './cluster.ts';
import type { SimPod } from './sim-pod.ts';
import type { World } from './world.ts';

const TEN_YEARS_MS = 10 * 365 * 86_400_000;

/** What local runs count from, so that their numbers are nobody else's. */
const LOCAL_FROM = 10_000;

type Fault = (cluster: Cluster, world: World) => void;

function someone(cluster: Cluster, world: World): SimPod | undefined {
  const alive = cluster.alive().filter(({ isFaulty }) => !isFaulty);
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

/** What it sends is carried out much later, when it may have been swept: it hears of nothing. */
const lateLine = onSomeone((pod, cluster, world) => {
  world.say(pod.name, 'has a line on which all is late, and is cut off then');
  world.count('late lines');
  pod.link.late = 1;
  cluster.later(world.within(100, 2_500), () => {
    Object.assign(pod.link, { late: 0, isCut: true });
    cluster.later(world.within(2_000, 6_000), () => {
      pod.link.isCut = false;
    });
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
  pod.disk.nextFate = world.pick(['diesBefore', 'diesAfter', 'tears'] as const);
});

const failSyncs = onSomeone((pod, _, world) => {
  world.say(pod.name, 'has a disk whose syncs fail');
  pod.disk.failingSyncs = 1 + Math.floor(world.within(0, 6));
  // The first of them ends the process: its next one finds out whether it took.
  pod.disk.diesOfSync = world.random.fraction() < 0.8;
});

const driftWall = onSomeone((pod, cluster, world) => {
  const rate = world.within(0.5, 2);
  world.say(pod.name, `has a wall clock that goes at ${rate.toFixed(2)}`);
  world.count('wall clocks drifting');
  pod.process.driftWall(rate);
  cluster.later(world.within(1_000, 20_000), () => pod.process.driftWall(1));
});

const driftMonotonic = onSomeone((pod, cluster, world) => {
  const rate = world.within(0.96, 1.04);
  world.say(pod.name, `has a monotonic clock that goes at ${rate.toFixed(3)}`);
  world.count('monotonic clocks drifting');
  pod.process.driftMonotonic(rate);
  cluster.later(world.within(1_000, 20_000), () => pod.process.driftMonotonic(1));
});

const meagreClaims = onSomeone((pod, cluster, world) => {
  world.say(pod.name, 'is given one task at a time');
  pod.link.isMeagre = true;
  cluster.later(world.within(1_000, 8_000), () => {
    pod.link.isMeagre = false;
  });
});

const LEADER_COUNT = 3;

/** Some who each take themselves for the oldest. */
const forceLeaders: Fault = (cluster, world) => {
  const pods = cluster.alive();
  while (pods.length > LEADER_COUNT) pods.splice(Math.floor(world.within(0, pods.length)), 1);
  world.say('world', `is led by ${pods.map(({ name }) => name).join(', ')}`);
  if (pods.length === LEADER_COUNT) world.count('forced leaders');
  for (const { link } of pods) link.isFirst = true;
  cluster.later(world.within(4_000, 15_000), () => {
    for (const { link } of pods) link.isFirst = false;
  });
};

const startLocal = onSomeone((pod, _, world) => {
  if (!pod.isSuspectsOnly) pod.startLocal(LOCAL_FROM + Math.floor(world.within(0, 100)));
});

const losePower = onSomeone((pod, _, world) => {
  pod.kill();
  pod.disk.losePower();
  world.say(pod.name, 'had lost its power');
  world.count('lost power');
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
  const id = pod?.member.pod.life?.id;
  if (pod && id) cluster.admin.askToDrain(id, pod.name);
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
  [lateLine, 3],
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
  [failSyncs, 2],
  [driftWall, 2],
  [driftMonotonic, 2],
  [meagreClaims, 1],
  [forceLeaders, 1],
  [startLocal, 4],
  [(cluster) => cluster.admin.redrive(), 2],
  [(cluster) => cluster.admin.reschedule(), 2],
  [(cluster) => cluster.admin.sweep(), 2],
  [(cluster) => cluster.admin.discard(), 0.5],
  [massRestart, 0.5],
];

const WEIGHT_SUM = FAULTS.reduce((total, [, weight]) => total + weight, 0);

export function chooseFault(world: World): Fault {
  let left = world.random.fraction() * WEIGHT_SUM;
  for (const [fault, weight] of FAULTS) {
    left -= weight;
    if (left < 0) return fault;
  }
  return kill;
}

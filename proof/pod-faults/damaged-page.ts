/** F1: a pod whose journal has a bad page is the oldest of its fleet, and a pod beside it dies with tasks. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { damageLastLeaf, fillJournal } from './damage.ts';
import { msUntil, type Pod, until } from './pods.ts';
import { atLeast, atMost, exactly, type Promised, says } from './promised.ts';
import { HEARTBEAT_MS, RELEASED_MS_MAX, STEADY_MS, type Stage } from './stage.ts';

const WORK_MS = 300;
const STALL_MS_MAX = 10_000;
const DONE_MS_MAX = 120_000;

export async function damagedPage(stage: Stage, tasks: number): Promise<Promised[]> {
  const mib = await damagedJournal(stage, 'alder');
  const alder = await stage.pod({ podName: 'alder' });
  const birch = await stage.pod({ podName: 'birch' });
  const cedar = await stage.pod({ podName: 'cedar', slots: 16 });
  await sleep(STEADY_MS);
  const first = await alder.look();
  const wasLeader = (await birch.look()).leader === first.pod;
  const ids = await birch.ask<string[]>('enqueue', { count: tasks, ms: WORK_MS });
  const { pod: cedarId = '' } = await cedar.look();
  await until('cedar to hold tasks', 30_000, async () => (await stage.claimsOf(cedarId)) >= 4);
  await msUntil(STALL_MS_MAX, async () => (await alder.look()).stalledBy !== undefined);
  await cedar.kill();
  const held = await stage.claimsOf(cedarId);
  const led = watchLeader(alder, birch);
  const releasedMs = await stage.msUntilReleased(cedarId, 60_000);
  const doneMs = await stage.msUntilDone(ids, DONE_MS_MAX);
  const { stalledBy, isReady = false } = await alder.look();
  return [
    atLeast('MiB of the damaged journal', 65, mib),
    exactly('the damaged pod was the leader', true, wasLeader),
    atLeast('tasks that the killed pod held', 1, held),
    exactly('tasks failed', 0, await stage.countOf(ids, 'failed')),
    exactly('tasks completed', tasks, await stage.countOf(ids, 'completed')),
    atMost('ms until all were', DONE_MS_MAX, doneMs),
    atMost('ms until the killed pod held none', RELEASED_MS_MAX, releasedMs),
    exactly('looks in which the damaged pod led, once that was known', 0, await led.stop()),
    exactly('phases that the damaged pod started', 0, stage.notedBy([alder.pid], 'started')),
    exactly('tasks that the damaged pod holds', 0, await claimsOfName(stage, 'alder')),
    exactly('the damaged pod is ready', false, isReady),
    says('the damaged pod', /malformed/, stalledBy),
    says('its row', /"stalled":".*malformed/, await reportOf(stage, 'alder')),
  ];
}

async function damagedJournal(stage: Stage, podName: string): Promise<number> {
  const dataDir = join(stage.directory, podName);
  const before = await stage.loner({ podName, ledger: '' });
  const mib = await fillJournal(before, dataDir);
  await before.kill();
  damageLastLeaf(dataDir, 'events', 'junk');
  return mib;
}

/** Its stall is known to the others by its next heartbeat, and to their own by the one after. */
const KNOWN_MS = 3 * HEARTBEAT_MS;

function watchLeader(damaged: Pod, healthy: Pod): { stop(): Promise<number> } {
  let isOver = false;
  let led = 0;
  const watching = (async () => {
    await sleep(KNOWN_MS);
    while (!isOver) {
      const [own, other] = await Promise.all([damaged.look(), healthy.look()]);
      if (own.pod !== undefined && [own.leader, other.leader].includes(own.pod)) led += 1;
      await sleep(HEARTBEAT_MS / 2);
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await watching;
      return led;
    },
  };
}

const claimsOfName = (stage: Stage, name: string) =>
  stage.count(
    `step_tracker where status = 'claimed'
       and claimed_by in (select pod_id from pod_health where name = $1)`,
    [name],
  );

async function reportOf(stage: Stage, name: string): Promise<string | undefined> {
  const text = `select report from pod_health where name = $1 order by birth_timestamp desc limit 1`;
  return (await stage.sql<{ report: string }>(text, [name]))[0]?.report;
}

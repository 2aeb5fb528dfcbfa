/** What pods write about themselves, and how they are declared dead and laid to rest. */

import { BLOCKED_MS_MAX } from '../bounds.ts';
import { StoreRefusedError } from '../errors.ts';
import { fleetSightOf, type PodInSight } from '../fleet-sight.ts';
import type {
  Beat,
  BeatAnswer,
  Control,
  JournalSeen,
  PodBirth,
  PodRow,
  Worklist,
} from '../pods.ts';
import type { Announcement, KnownRoute } from '../tasks.ts';
import { type ReportGlimpse, throttlesIn } from '../throttles.ts';
import { type PodId, routeOf, SUSPECT_CRASHES } from '../words.ts';

import { glimpseOf, podRowOf } from './rows.ts';
import {
  by,
  type MemoryTables,
  type PodRecord,
  refuseUnstorable,
  type TaskRecord,
} from './tables.ts';
import { throttlesTold } from './throttles.ts';

export function register(tables: MemoryTables, birth: PodBirth): JournalSeen {
  const report = JSON.stringify(birth.report);
  refuseUnstorable(birth.pod, birth.name, birth.journal, birth.nonce, ...birth.routes);
  const others = tables.podsWhere(
    ({ podId, journalId }) => journalId === birth.journal && podId !== birth.pod,
  );
  // A pod that is there already is our own, whose answer was lost: its heart may beat already.
  const there = tables.pods.get(birth.pod);
  if (there && !isSameLife(there, birth)) {
    throw new StoreRefusedError(`the pod ${birth.pod} has lived before`, {
      hint: 'every process registers under an id of its own',
    });
  }
  if (!there) {
    const now = tables.now();
    tables.pods.set(birth.pod, {
      podId: birth.pod,
      name: birth.name,
      journalId: birth.journal,
      boot: birth.boot,
      birthTimestamp: now,
      silenceMs: birth.silenceMs,
      routes: [...birth.routes],
      lastHeartbeat: now,
      beatSeq: 0,
      beatNonce: birth.nonce,
      status: 'up',
      desired: undefined,
      journalLsn: birth.lsn,
      report,
      deadAt: undefined,
      deadBy: undefined,
    });
  }
  // It is up again.
  for (const { podId } of others) rise(tables, podId);
  wakeBlocked(tables, birth.routes);
  return {
    boot: Math.max(0, ...others.map(({ boot }) => boot)),
    lsn: Math.max(0, ...others.map(({ journalLsn }) => journalLsn)),
    pods: others
      .filter(({ status }) => status !== 'down')
      .map(({ podId, status }) => ({ pod: podId, status })),
  };
}

function isSameLife(there: PodRecord, { journal, boot }: PodBirth): boolean {
  return there.journalId === journal && there.boot === boot && there.status === 'up';
}

export function beat(tables: MemoryTables, given: Beat): BeatAnswer {
  const { pod, seq, nonce, since, lsn, report, leads } = given;
  const row = tables.pods.get(pod);
  const isNext = row?.beatSeq === seq && (since?.includes(row.beatNonce) ?? true);
  if (!row || !isNext || !isLive(row)) {
    const { status, beatSeq, beatNonce } = row ?? {};
    return { kind: 'refused', status, seq: beatSeq, nonce: beatNonce };
  }
  refuseUnstorable(nonce);
  const now = tables.now();
  row.lastHeartbeat = now;
  row.beatSeq += 1;
  row.beatNonce = nonce;
  row.journalLsn = lsn;
  row.report = JSON.stringify(report);
  const mine = tables.tasksWhere(({ claimedBy }) => claimedBy === pod);
  return {
    kind: 'taken',
    seq: row.beatSeq,
    status: row.status as 'up' | 'draining',
    desired: row.desired === 'rest' ? undefined : row.desired,
    claimCount: mine.length,
    controls: mine.flatMap((task): Control[] => {
      const { taskId, generation, claimEpoch, control, controlReason } = task;
      if (control === undefined) return [];
      const reason = controlReason ?? '';
      return [{ task: taskId, generation, epoch: claimEpoch, control, reason }];
    }),
    ...fleetSightOf(
      tables.podsWhere(({ status }) => status !== 'down').map((other) => podInSight(other, now)),
      given,
    ),
    throttles: throttlesTold(tables),
    reports: leads ? reportsOf(tables, now) : undefined,
    timeline: tables.timeline,
  };
}

function podInSight(pod: PodRecord, now: number): PodInSight {
  const deadMs = pod.deadAt === undefined ? undefined : now - pod.deadAt;
  return { ...glimpseOf(pod, now), journal: pod.journalId, deadMs };
}

function reportsOf(tables: MemoryTables, now: number): ReportGlimpse[] {
  return tables.podsWhere(isLive).map(({ podId: pod, lastHeartbeat, report }) => {
    return { pod, ageMs: Math.max(0, now - lastHeartbeat), throttles: throttlesIn(report) };
  });
}

export function markDraining(tables: MemoryTables, pod: PodId): boolean {
  const row = tables.pods.get(pod);
  if (row?.status !== 'up') return false;
  row.status = 'draining';
  return true;
}

export function requestDrain(tables: MemoryTables, pod: PodId): boolean {
  const row = tables.pods.get(pod);
  if (row?.status !== 'up') return false;
  row.desired = 'drain';
  return true;
}

export function beginTerm(tables: MemoryTables, podId: PodId, term: number): void {
  const pod = tables.pods.get(podId);
  const key = `${podId} ${term}`;
  if (!pod || tables.terms.has(key)) return;
  tables.terms.set(key, { podId, term, name: pod.name, since: tables.now() });
}

export function pods(tables: MemoryTables): PodRow[] {
  return tables.podsWhere(() => true).map((pod) => podRowOf(tables, pod));
}

export function announce(tables: MemoryTables, given: readonly Announcement[]): Announcement[] {
  for (const { route, fingerprint, shape } of given) refuseUnstorable(route, fingerprint, shape);
  return given.flatMap(({ route, fingerprint, shape }) => {
    const known = tables.registry.get(route);
    if (!known) {
      const machine = route.slice(0, route.lastIndexOf('@'));
      const firstSeen = tables.now();
      tables.registry.set(route, { route, machine, fingerprint, shape, firstSeen });
    }
    if (!known || known.fingerprint === fingerprint) return [];
    return [{ route, fingerprint: known.fingerprint, shape: known.shape }];
  });
}

/** Whoever has their version, or their key, may be here. */
export function wakeBlocked(tables: MemoryTables, routes: readonly string[]): void {
  const now = tables.now();
  const isBlocked = (task: TaskRecord) =>
    task.status === 'waiting' &&
    (task.waitFor === 'version' || task.waitFor === 'key') &&
    !task.paused &&
    task.pinnedTo === undefined &&
    task.crashes < SUSPECT_CRASHES &&
    routes.includes(routeOf(task));
  for (const task of tables.tasksWhere(isBlocked)) {
    if (task.runAt <= now || task.runAt > now + BLOCKED_MS_MAX) continue;
    task.runAt = now;
    task.lastUpdate = now;
  }
}

export function abandoned(tables: MemoryTables, machines: readonly string[]): string[] {
  const up = new Set(
    tables.podsWhere(({ status }) => status === 'up').flatMap((pod) => pod.routes),
  );
  return [...tables.registry.values()]
    .filter(({ machine, route }) => machines.includes(machine) && !up.has(route))
    .map(({ route }) => route)
    .sort();
}

export function known(tables: MemoryTables): KnownRoute[] {
  return [...tables.registry.values()]
    .sort(by(({ route }) => route))
    .map(({ route, fingerprint, shape, firstSeen: firstSeenAt }) => {
      return { route, fingerprint, shape, firstSeenAt };
    });
}

export function worklist(tables: MemoryTables, silentMs: number): Worklist {
  const now = tables.now();
  const live = tables.podsWhere(isLive);
  const owners = tables
    .tasksWhere(({ status }) => status === 'claimed')
    .map((task) => task.claimedBy!);
  return {
    silent: live.filter((pod) => isSilent(pod, now, silentMs)).map((pod) => glimpseOf(pod, now)),
    dead: tables.podsWhere(({ status }) => status === 'dead').map((pod) => glimpseOf(pod, now)),
    ownerless: [...new Set(owners)]
      .filter((owner) => !tables.isPod(owner, 'up', 'draining', 'dead'))
      .sort(),
    liveCount: live.length,
  };
}

export function fence(
  tables: MemoryTables,
  pod: PodId,
  by: PodId,
  because: { readonly silentMs: number } | 'proved',
): boolean {
  const row = tables.pods.get(pod);
  if (!row || !isLive(row)) return false;
  const now = tables.now();
  if (because !== 'proved' && !isSilent(row, now, because.silentMs)) return false;
  row.status = 'dead';
  row.deadAt = now;
  row.deadBy = by;
  return true;
}

export function retire(tables: MemoryTables, pod: PodId): boolean {
  const row = tables.pods.get(pod);
  if (row?.status === 'dead' && tables.tasksWhere((task) => task.claimedBy === pod).length === 0) {
    row.status = 'down';
  }
  return row?.status === 'down';
}

/** up → down by its own word, to come back when there is work. */
export function rest(tables: MemoryTables, pod: PodId): boolean {
  const row = tables.pods.get(pod);
  if (row?.status !== 'up' || tables.tasksWhere((task) => task.claimedBy === pod).length > 0) {
    return false;
  }
  const now = tables.now();
  Object.assign(row, { status: 'down', deadAt: now, deadBy: pod, desired: 'rest' });
  return true;
}

export function rise(tables: MemoryTables, pod: PodId): void {
  const row = tables.pods.get(pod);
  if (row?.desired === 'rest') row.desired = undefined;
}

function isLive({ status }: PodRecord): boolean {
  return status === 'up' || status === 'draining';
}

function isSilent(pod: PodRecord, now: number, silentMs: number): boolean {
  return pod.lastHeartbeat < now - (pod.silenceMs ?? silentMs);
}

/** Pods: what one writes of itself, and what it sees of the others. Each is one transaction's work. */
import type { RunId } from '../../ground/index.ts';
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
import type { PodId, PodStatus } from '../words.ts';
import * as terms from './leader-terms.sql.ts';
import * as sql from './pods.sql.ts';
import { podGlimpse, podRow, type RawPod } from './rows.ts';
import type { Tx } from './session.ts';
import { throttlesTold } from './throttles.ts';

/** No other server can ever become the primary of a file. */
const TIMELINE = 'file';

export function register(tx: Tx, birth: PodBirth): JournalSeen {
  const { pod, name, journal, boot, lsn, nonce, silenceMs } = birth;
  const isNew = tx.run(sql.insertPod, {
    pod,
    name,
    journal,
    boot,
    lsn,
    nonce,
    silent_ms: silenceMs === undefined ? null : Math.ceil(silenceMs),
    routes: JSON.stringify(birth.routes),
    report: JSON.stringify(birth.report),
    now: tx.now,
  });
  const there = tx.get<RawPod>(sql.selectPod, { pod });
  const isSameLife = there?.journal_id === journal && there.boot === boot && there.status === 'up';
  if (!isNew && !isSameLife) {
    throw new StoreRefusedError(`the pod ${pod} has lived before`, {
      hint: 'every process registers under an id of its own',
    });
  }
  for (const route of birth.routes) {
    tx.run(sql.wakeBlocked, { route, now: tx.now, until: tx.now + BLOCKED_MS_MAX });
  }
  const seen = tx.get<{ boot: number; lsn: number }>(sql.selectJournalSeen, { journal, pod });
  const lives = tx.all<{ pod_id: PodId; status: PodStatus }>(sql.selectLivesOfJournal, {
    journal,
    pod,
  });
  return {
    boot: seen?.boot ?? 0,
    lsn: seen?.lsn ?? 0,
    pods: lives.map(({ pod_id, status }) => ({ pod: pod_id, status })),
  };
}

export function beat(tx: Tx, given: Beat): BeatAnswer {
  const { pod, seq, nonce, since, lsn, report, leads, times } = given;
  const names = since === undefined ? null : JSON.stringify(since);
  const told = { nonce, lsn, report: JSON.stringify(report), now: tx.now };
  const values = { pod, seq, since: names, ...told };
  const isTaken = tx.run(sql.beatPod, values) === 1;
  const own = tx.get<RawPod>(sql.selectPod, { pod });
  if (!isTaken || !own) {
    return {
      kind: 'refused',
      status: own?.status,
      seq: own?.beat_seq,
      nonce: own?.beat_nonce,
    };
  }
  return {
    kind: 'taken',
    seq: own.beat_seq,
    status: own.status as 'up' | 'draining',
    desired: own.desired ?? undefined,
    claimCount: tx.get<{ count: number }>(sql.countClaims, { pod })?.count ?? 0,
    controls: tx.all<RawControl>(sql.selectControls, { pod }).map(controlOf),
    ...fleetSightOf(
      fleetOf(tx).map((row) => podInSight(row, tx.now)),
      { pod, times },
    ),
    throttles: throttlesTold(tx),
    reports: leads ? reportsOf(tx) : undefined,
    timeline: TIMELINE,
  };
}

function podInSight(row: RawPod, now: number): PodInSight {
  const deadMs = row.dead_at === null ? undefined : now - row.dead_at;
  return { ...podGlimpse(row, now), journal: row.journal_id, deadMs };
}

interface RawControl {
  readonly task_id: RunId;
  readonly generation: number;
  readonly claim_epoch: number;
  readonly control: 'cancel' | 'pause';
  readonly control_reason: string | null;
}

function controlOf(row: RawControl): Control {
  return {
    task: row.task_id,
    generation: row.generation,
    epoch: row.claim_epoch,
    control: row.control,
    reason: row.control_reason ?? '',
  };
}

function fleetOf(tx: Tx): RawPod[] {
  return tx.all<RawPod>(sql.selectFleet);
}

function reportsOf(tx: Tx): ReportGlimpse[] {
  const live = fleetOf(tx).filter(({ status }) => status === 'up' || status === 'draining');
  return live.map(({ pod_id: pod, last_heartbeat: at, report }) => {
    return { pod, ageMs: Math.max(0, tx.now - at), throttles: throttlesIn(report) };
  });
}

export function isUp(tx: Tx, pod: PodId): boolean {
  return tx.get<RawPod>(sql.selectPod, { pod })?.status === 'up';
}

export function markDraining(tx: Tx, pod: PodId): boolean {
  return tx.run(sql.markDraining, { pod }) === 1;
}

export function requestDrain(tx: Tx, pod: PodId): boolean {
  return tx.run(sql.requestDrain, { pod }) === 1;
}

export function beginTerm(tx: Tx, pod: PodId, term: number): void {
  tx.run(terms.beginTerm, { pod, term, now: tx.now });
}

export function pods(tx: Tx): PodRow[] {
  type Row = RawPod & { readonly claim_count: number };
  return tx.all<Row>(sql.selectPods).map((row) => podRow(row, tx.now));
}

export function announce(tx: Tx, given: readonly Announcement[]): Announcement[] {
  return given.flatMap(({ route, fingerprint, shape }) => {
    const machine = route.slice(0, route.lastIndexOf('@'));
    tx.run(sql.insertRoute, { route, machine, fingerprint, shape, now: tx.now });
    return tx.all<Announcement>(sql.selectChanged, { route, fingerprint });
  });
}

export function abandoned(tx: Tx, machines: readonly string[]): string[] {
  const values = { machines: JSON.stringify(machines) };
  return tx.all<{ route: string }>(sql.selectAbandoned, values).map(({ route }) => route);
}

export function known(tx: Tx): KnownRoute[] {
  type Row = Announcement & { readonly first_seen: number };
  return tx.all<Row>(sql.selectKnown).map(({ first_seen, ...row }) => {
    return { ...row, firstSeenAt: first_seen };
  });
}

export function worklist(tx: Tx, silentMs: number): Worklist {
  const fleet = fleetOf(tx);
  const live = fleet.filter(({ status }) => status === 'up' || status === 'draining');
  const glimpse = (row: RawPod) => podGlimpse(row, tx.now);
  return {
    silent: live
      .filter((row) => tx.now - row.last_heartbeat >= (row.silent_ms ?? silentMs))
      .map(glimpse),
    dead: fleet.filter(({ status }) => status === 'dead').map(glimpse),
    ownerless: tx.all<{ pod_id: PodId }>(sql.selectOwnerless).map(({ pod_id }) => pod_id),
    liveCount: live.length,
  };
}

export function fence(
  tx: Tx,
  pod: PodId,
  by: PodId,
  because: { readonly silentMs: number } | 'proved',
): boolean {
  const silentMs = because === 'proved' ? null : because.silentMs;
  return tx.run(sql.fencePod, { pod, by, silent_ms: silentMs, now: tx.now }) === 1;
}

export function retire(tx: Tx, pod: PodId): boolean {
  tx.run(sql.retirePod, { pod });
  return tx.get<RawPod>(sql.selectPod, { pod })?.status === 'down';
}

/** What the recovery machines are given: the fleet as its leader sees it, and what may be done to it. */
import { type Clock, pause, type RunId } from '../ground/index.ts';
import {
  generationSeen,
  type PodId,
  type Pruned,
  type Store,
  type Worklist as StoreWorklist,
  type TakenTask,
} from '../store/index.ts';
import { tell } from '../telemetry/events.ts';
import type { DeadLetters } from './dead-letters.ts';
import type { Life } from './life.ts';
import { tellFailed, tellRescued, tellTakenAway } from './tell-taken.ts';
import type { Watch } from './watch.ts';

/** How this pod stands to the fleet right now. */
export interface Standing {
  readonly isLeader: boolean;
  /** It leads, or sweeps what the pods before it have left. */
  readonly maySweep: boolean;
  /** It has been heard long enough to judge others. */
  readonly isSteady: boolean;
}

/** A pod whose tasks have to be given back. */
export interface MissingPod {
  readonly pod: string;
  /** `silent`: not heard of, and not fenced yet. `dead`: fenced. `gone`: its claims have outlived it. */
  readonly why: 'silent' | 'dead' | 'gone';
  /** It ended by its own word: whatever it left has crashed nothing. */
  readonly wasWilling: boolean;
}

export interface Worklist {
  readonly pods: readonly MissingPod[];
  /** More than half of the fleet is silent: that is an outage, and nobody's crash. */
  readonly isOutage: boolean;
}

/** A task that was given back, and what it is now. */
export interface Rescued {
  readonly task: string;
  readonly status: string;
}

export interface Recovery {
  /** Undefined where this process is no part of the fleet just now. */
  standing(): Standing | undefined;
  worklist(): Promise<Worklist>;
  /** Whether the pod is dead now; false where it has been heard of after all. */
  fence(pod: string): Promise<boolean>;
  /** The next batch of what the dead pod held; empty when nothing is left. */
  take(pod: string, countsCrash: boolean): Promise<readonly Rescued[]>;
  holdsAny(pod: string): Promise<boolean>;
  /** Says that nothing is left of it. */
  retire(pod: string): Promise<boolean>;
  /** Whether there is anything for the next to do. */
  hasHopeless(): Promise<boolean>;
  /** Fails a batch of tasks that nobody will ever be able to run. */
  failHopeless(): Promise<readonly Rescued[]>;
  /** Whether there is anything for the next to do. */
  hasOld(): Promise<boolean>;
  /** Removes a batch of what retention no longer keeps, and pauses for as long as that took. */
  prune(): Promise<Pruned>;
  /** Brings this host's copy of the dead letters up to date; answers how many there are. */
  refreshDeadLetters(): Promise<number>;
  /**
   * Gives an ended task a new generation; undefined where somebody else has done so. Who wants it, and
   * which run does it, is told in the audit log: the same run may ask again, and is answered the same.
   */
  redrive(
    task: string,
    generation: number,
    isFresh: boolean,
    by: { readonly who: string; readonly run: string },
  ): Promise<number | undefined>;
}

export interface RecoveryPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly silentMs: number;
  readonly retentionMs: number;
  /** How long the audit log keeps its rows; undefined: for ever. */
  readonly auditMs?: number | undefined;
  readonly life: () => Life | undefined;
  readonly deadLetters: DeadLetters;
}

const TAKE_COUNT_MAX = 500;
const HOPELESS_COUNT_MAX = 500;
const PRUNE_COUNT_MAX = 1_000;
/** A task of a machine nobody has ever had may just be ahead of its deploy. */
const HOPELESS_GRACE_MS = 60_000;
/** Requeued tasks are spread, so that a dead pod's load does not come back as one blow. */
const SPREAD_MS = 1_000;

export function recoveryOf(ports: RecoveryPorts): Recovery {
  const { store, clock, silentMs, retentionMs, auditMs, deadLetters } = ports;
  let wasOutage = false;
  let known: ReadonlyMap<string, MissingPod> = new Map();
  let lastHeard: ReadonlyMap<string, number> = new Map();
  const self = (): PodId => ports.life()?.id ?? ('' as PodId);
  return {
    standing: () => {
      const life = ports.life();
      if (!life || life.isDead) return undefined;
      const { watch, id } = life;
      const nowMs = clock.monotonicMs();
      const maySweep = watch.isTurnOf(id, nowMs);
      return { isLeader: watch.leader === id, maySweep, isSteady: watch.isSteady(nowMs) };
    },
    worklist: async () => {
      const { list, outage, heard } = await worklistOf(ports);
      known = new Map(list.map((missing) => [missing.pod, missing]));
      lastHeard = heard;
      const { isOutage, ...count } = outage;
      if (isOutage && !wasOutage) tell('fleet.outage', () => count);
      wasOutage = isOutage;
      return { pods: list, isOutage };
    },
    fence: async (pod) => {
      if (!ports.life()?.watch.isSteady(clock.monotonicMs())) return false;
      const isDead = await store.fence(pod as PodId, self(), { silentMs });
      const heardMs = lastHeard.get(pod);
      if (isDead && heardMs !== undefined) {
        const agoMs = clock.monotonicMs() - heardMs;
        tell('pod.fenced', () => ({ pod, by: self(), silentMs: agoMs }));
      }
      return isDead;
    },
    take: async (pod, countsCrash) => {
      const taken = await store.take({
        from: pod as PodId,
        by: self(),
        to: 'pool',
        countMax: TAKE_COUNT_MAX,
        crashed: countsCrash ? 'all' : 'none',
        spreadMs: SPREAD_MS,
      });
      tellTaken(pod, self(), known.get(pod), taken);
      tellTakenAway(taken);
      return taken;
    },
    holdsAny: async (pod) => (await store.held(pod as PodId, '', 1, 0)).length > 0,
    retire: (pod) => store.retire(pod as PodId),
    hasHopeless: () => store.hasHopeless(HOPELESS_GRACE_MS),
    failHopeless: async () => {
      const failed = await store.failHopeless(HOPELESS_GRACE_MS, HOPELESS_COUNT_MAX);
      for (const { id, machine } of failed) {
        tell('task.failed', () => ({ run: id, machine, outcome: 'hopeless' }));
      }
      tellRescued(
        failed.map(({ id: run, lastSeq, ...of }) => ({ run, ...of, hasBegun: lastSeq >= 0 })),
      );
      return failed.map(({ id, status }) => ({ task: id, status }));
    },
    hasOld: () => store.hasOld(retentionMs, auditMs),
    prune: async () => {
      const begunMs = clock.monotonicMs();
      const pruned = await store.prune(retentionMs, PRUNE_COUNT_MAX, auditMs);
      // Half of the time at most, or claims would wait behind it.
      if (pruned.isMore) await pause(clock, clock.monotonicMs() - begunMs);
      return pruned;
    },
    refreshDeadLetters: () => deadLetters.refresh(),
    redrive: async (task, generation, isFresh, { who, run }) => {
      const answer = await store.act({
        requestId: `${run}.${task}`,
        who,
        via: `recovery/redrive ${run}`,
        task: task as RunId,
        deed: { what: 'redrive', isFresh },
        ifRevision: generationSeen(generation),
      });
      return answer.kind === 'done' ? generation + 1 : undefined;
    },
  };
}

function tellTaken(
  pod: string,
  by: string,
  missing: MissingPod | undefined,
  taken: readonly TakenTask[],
): void {
  if (taken.length === 0) return;
  const why = missing?.wasWilling ? 'left' : (missing?.why ?? 'dead');
  tell('sweep.took', () => ({ pod, by, why, runs: taken.map(({ task }) => task) }));
  tellFailed(taken);
}

/**
 * Of how many pods how many are missing, where so many of the live ones are silent. A sweep that died
 * half way has fenced some already: they count like the silent ones.
 */
export function outageOf(
  { dead, liveCount }: Pick<StoreWorklist, 'dead' | 'liveCount'>,
  silentCount: number,
): { readonly missing: number; readonly pods: number; readonly isOutage: boolean } {
  const fenced = dead.filter(({ pod, deadBy }) => deadBy !== pod).length;
  const missing = silentCount + fenced;
  const pods = liveCount + fenced;
  return { missing, pods, isOutage: missing * 2 > pods };
}

async function worklistOf({ store, clock, silentMs, life }: RecoveryPorts) {
  const found = await store.worklist(silentMs);
  // By the store's clock, and by what this pod has seen for itself. The store may have been away since
  // the sweep began: whoever was not heard meanwhile has no say in who was.
  const watch = life()?.watch;
  const nowMs = clock.monotonicMs();
  const seen = watch?.isSteady(nowMs) ? watch.silent(nowMs) : [];
  const silent = found.silent.filter(({ pod, seq }) =>
    seen.some((glimpse) => glimpse.pod === pod && glimpse.seq === seq),
  );
  const isGathering = watch !== undefined && hasMoreToCome(found, silent, watch, nowMs);
  const missing =
    (why: MissingPod['why']) => (glimpse: { pod: PodId; deadBy?: string | undefined }) => ({
      pod: glimpse.pod,
      why,
      wasWilling: glimpse.deadBy === glimpse.pod,
    });
  const list: MissingPod[] = [
    ...(isGathering ? [] : silent).map(missing('silent')),
    ...found.dead.map(missing('dead')).filter(({ wasWilling }) => wasWilling || !isGathering),
    ...found.ownerless.map((pod) => ({ pod, why: 'gone' as const, wasWilling: false })),
  ];
  // When each was last heard of, in terms of this process's own clock.
  const heard = new Map(silent.map(({ pod, silentMs }) => [pod as string, nowMs - silentMs]));
  return { list, outage: outageOf(found, silent.length), heard };
}

/**
 * Pods that die at one blow fall silent one after the other, up to a heartbeat apart. Whoever sweeps the
 * first of them before the last would not see that more than half are missing, and blame their tasks.
 */
function hasMoreToCome(
  found: StoreWorklist,
  silent: readonly { readonly pod: PodId }[],
  watch: Watch,
  nowMs: number,
): boolean {
  if (silent.length === 0) return false;
  const isSilent = ({ pod }: { readonly pod: PodId }) => silent.some((one) => one.pod === pod);
  const more = watch.fading(nowMs).filter((glimpse) => !isSilent(glimpse)).length;
  return more > 0 && outageOf(found, silent.length + more).isOutage;
}

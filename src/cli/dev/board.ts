/**
 * What is known of the fleet that `fleetq dev` runs: a fold over what its pods tell. Pure but for the
 * times it is given, so that the story it tells can be tested without a process.
 *
 *   begun, resumed ──▶ held by a pod ──settled──▶ nobody's
 *                          │
 *                     the pod dies
 *                          ▼
 *                       orphaned ──begun or resumed elsewhere──▶ taken over
 */
import type { SupervisorEvent } from '../worker/supervisor.ts';

export type PodState = 'starting' | 'up' | 'handingOver' | 'killed' | 'gone';
export interface BoardPod {
  readonly name: string;
  pid: number | undefined;
  /** Its id in the store. */
  id: string | undefined;
  state: PodState;
  /** When it came into this state. */
  sinceMs: number;
  isLeader: boolean;
  ended: number;
  tookOver: number;
  readonly holds: Set<string>;
  /** What it held when it died, and nobody has taken up yet. */
  readonly orphans: Set<string>;
}

export interface TakenOver {
  readonly kind: 'takenOver';
  readonly run: string;
  readonly machine: string;
  /** Where it goes on; undefined where it begins again, since nothing of it had been archived. */
  readonly state: string | undefined;
  readonly from: string;
  readonly by: string;
  /** Since its pod died. */
  readonly afterMs: number;
}
export interface Totals {
  enqueued: number;
  completed: number;
  handedOff: number;
  failed: number;
  takenOver: number;
}

const GOOD: ReadonlySet<string> = new Set(['completed', 'handedOff']);
const RECOVERY = 'recovery/';

export class Board {
  readonly pods: readonly BoardPod[];
  readonly totals: Totals = { enqueued: 0, completed: 0, handedOff: 0, failed: 0, takenOver: 0 };
  /** Run → who had it before it was taken over. */
  readonly takenFrom = new Map<string, string>();

  constructor(names: readonly string[]) {
    this.pods = names.map((name) => ({
      name,
      pid: undefined,
      id: undefined,
      state: 'starting',
      sinceMs: 0,
      isLeader: false,
      ended: 0,
      tookOver: 0,
      holds: new Set(),
      orphans: new Set(),
    }));
  }

  pod(name: string): BoardPod {
    return this.pods.find((pod) => pod.name === name)!;
  }

  /** Whose death was worst: the one with the most in hand, of those that are up. */
  busiest(): BoardPod | undefined {
    const up = this.pods.filter(({ state }) => state === 'up');
    // Somebody has to be left who takes over.
    if (up.length < 2) return undefined;
    return up.reduce((most, pod) => (pod.holds.size > most.holds.size ? pod : most));
  }

  /** Takes in what the pod told; answers what that means for runs whose pod had died. */
  hear(name: string, event: SupervisorEvent, nowMs: number): TakenOver | undefined {
    const pod = this.pod(name);
    switch (event.kind) {
      case 'started':
        pod.pid = event.pid;
        return enter(pod, 'starting', nowMs);
      case 'ready':
        pod.id = event.pod;
        return enter(pod, 'up', nowMs);
      case 'waiting':
        return enter(pod, 'handingOver', nowMs);
      case 'handedOver':
        // What it has not given back goes on in the next process, which says so itself.
        pod.pid = event.to;
        pod.holds.clear();
        return enter(pod, 'handingOver', nowMs);
      case 'died':
        return this.#bury(pod, event.againInMs === undefined, nowMs);
      case 'begun':
      case 'resumed':
        return this.#take(pod, event, nowMs);
      case 'finished':
        return this.#end(pod, event);
      case 'settled':
        pod.holds.delete(event.run);
        return undefined;
      case 'claimed':
      case 'refused':
        return undefined;
    }
  }

  /** The store says that these are no longer the dead pod's, whoever has them. */
  adopt(name: string, runs: readonly string[]): void {
    for (const run of runs) this.pod(name).orphans.delete(run);
  }

  #bury(pod: BoardPod, wasKilled: boolean, nowMs: number): undefined {
    for (const run of pod.holds) pod.orphans.add(run);
    pod.holds.clear();
    pod.isLeader = false;
    return enter(pod, wasKilled ? 'killed' : 'gone', nowMs);
  }

  #take(
    pod: BoardPod,
    event: Extract<SupervisorEvent, { kind: 'begun' | 'resumed' }>,
    nowMs: number,
  ): TakenOver | undefined {
    const { run, machine } = event;
    // Recovery runs belong to the pod that started them, and end with it.
    if (machine.startsWith(RECOVERY)) return undefined;
    pod.holds.add(run);
    const before = this.pods.find(({ orphans }) => orphans.has(run));
    before?.orphans.delete(run);
    // The same pod again, on the same disk: it has adopted its own.
    if (!before || before === pod) return undefined;
    pod.tookOver += 1;
    this.totals.takenOver += 1;
    this.takenFrom.set(run, before.name);
    const state = event.kind === 'resumed' ? event.state : undefined;
    const afterMs = nowMs - before.sinceMs;
    return { kind: 'takenOver', run, machine, state, from: before.name, by: pod.name, afterMs };
  }

  #end(pod: BoardPod, event: Extract<SupervisorEvent, { kind: 'finished' }>): undefined {
    const { machine, outcome } = event;
    if (machine.startsWith(RECOVERY)) return;
    pod.ended += 1;
    if (GOOD.has(outcome)) this.totals[outcome as 'completed' | 'handedOff'] += 1;
    else if (outcome !== 'cancelled') this.totals.failed += 1;
    return undefined;
  }
}

function enter(pod: BoardPod, state: PodState, nowMs: number): undefined {
  pod.state = state;
  pod.sinceMs = nowMs;
  return undefined;
}

/**
 * Every slot of the oldest pods, which sweep for all, is in use for more than three silences while another
 * pod is killed with its tasks. The slots are held until those tasks are free: a sweep that waits for a slot is
 * later than any orphan may wait.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { runOn } from '../../test/support/postgres.ts';
import { until } from './faults-disk.ts';
import type { PodHouse } from './pod-house.ts';

export interface SlotPorts {
  readonly houses: readonly PodHouse[];
  readonly allHouses: readonly PodHouse[];
  readonly url: string;
  readonly isOver: () => boolean;
}

const LOOK_MS = 200;
/** More than three silences of three seconds. */
const HELD_MS_MIN = 10_000;
/** Longer than the judge lets an orphan wait. */
const HELD_MS_MAX = 60_000;
const FULL_MS_MAX = 8_000;

export class SlotFaults {
  readonly #ports: SlotPorts;
  #isAtIt = false;

  constructor(ports: SlotPorts) {
    this.#ports = ports;
  }

  async hold(): Promise<boolean> {
    const { isOver } = this.#ports;
    if (isOver() || this.#isAtIt) return false;
    this.#isAtIt = true;
    try {
      const holders = await this.#oldest();
      if (holders.length === 0 || !holders.every(isFit)) return false;
      for (const house of holders) house.isFree = false;
      try {
        return await this.#hold(holders);
      } finally {
        for (const house of holders) {
          house.ask('release');
          house.isFree = true;
        }
      }
    } finally {
      this.#isAtIt = false;
    }
  }

  async #hold(holders: readonly PodHouse[]): Promise<boolean> {
    const before = holders.map((house) => [house, house.pid, house.heard('slotsHeld')] as const);
    const isFull = () => before.every(([house, , held]) => house.heard('slotsHeld') > held);
    for (const house of holders) house.ask({ holdMs: HELD_MS_MAX });
    await until(isFull, FULL_MS_MAX);
    if (!isFull()) return false;
    const untilMs = performance.now() + HELD_MS_MIN;
    const wasHolding = await this.#killAnother(holders);
    while (wasHolding && performance.now() < untilMs) await sleep(LOOK_MS);
    return wasHolding && before.every(([house, pid]) => house.pid === pid);
  }

  /** The one with the most tasks. True where it had some, and its process was not there until all were free. */
  async #killAnother(holders: readonly PodHouse[]): Promise<boolean> {
    const victim = await this.#busiest(holders);
    if (!victim?.isFree) return false;
    victim.isFree = false;
    try {
      if (!(await victim.kill())) return false;
      const pods = await this.#ask(HOLDERS, victim.name);
      const lateMs = performance.now() + HELD_MS_MAX;
      while (performance.now() < lateMs) {
        const left = await this.#ask(HOLDERS, victim.name);
        if (left?.length === 0) break;
        await sleep(LOOK_MS);
      }
      return (pods?.length ?? 0) > 0;
    } finally {
      victim.start();
      victim.isFree = true;
    }
  }

  /** From the oldest up to the first that faults are aimed at: one for suspects may be older, and sweep. */
  async #oldest(): Promise<readonly PodHouse[]> {
    const { houses, allHouses } = this.#ports;
    const names = (await this.#ask(OLDEST, '')) ?? [];
    const found = names.flatMap((name) => allHouses.find((house) => house.name === name) ?? []);
    return found.slice(0, found.findIndex((house) => houses.includes(house)) + 1);
  }

  async #busiest(except: readonly PodHouse[]): Promise<PodHouse | undefined> {
    const names = (await this.#ask(BUSIEST, '')) ?? [];
    const fit = this.#ports.houses.filter((house) => isFit(house) && !except.includes(house));
    return names.flatMap((name) => fit.find((house) => house.name === name) ?? [])[0];
  }

  /** Undefined where the store is down. */
  async #ask(text: string, name: string): Promise<string[] | undefined> {
    const rows = await runOn<{ name: string }>(this.#ports.url, text, [name]).catch(
      () => undefined,
    );
    return rows?.map((row) => row.name);
  }
}

function isFit({ isFree, isReady }: PodHouse): boolean {
  return isFree && isReady;
}

const HOLDING = 'step_tracker tasks join pod_health pods on pods.pod_id = tasks.claimed_by';
/** $1 name of the pod, or ''. */
const OLDEST = `
  select name from pod_health where status = 'up' and $1 = '' order by birth_timestamp, pod_id`;
const BUSIEST = `
  select name from ${HOLDING} where pods.status = 'up' and $1 = ''
   group by name order by count(*) desc`;
const HOLDERS = `select name from ${HOLDING} where name = $1 limit 1`;

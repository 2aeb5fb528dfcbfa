/** What is done to the ways to the store: every mode in turn, long cuts, lost answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../src/ground/index.ts';
import { below } from '../../test/support/seeded-random.ts';
import { MODE_KINDS, type ModeKind, modeOf, type NetworkMode } from './network-modes.ts';
import type { PodHouse } from './pod-house.ts';
import type { StoreProxy } from './proxy.ts';

export interface NetworkPorts {
  readonly houses: readonly PodHouse[];
  readonly ownProxies: readonly StoreProxy[];
  readonly random: Random;
  readonly isOver: () => boolean;
}

const LOOK_MS = 50;
const ANSWER_MS_MAX = 4_000;
/** A mode holds for so long: mostly shortly, at times past the silence. */
const MODE_MS = [100, 10_000] as const;
const CUT_MS = [5_000, 8_000] as const;
/** A mode that has touched nothing by then will not be counted. */
const TOUCH_MS_MAX = 3_000;

export class NetworkFaults {
  readonly #ports: NetworkPorts;
  readonly #atWork = new Set<ModeKind>();
  /** How often each mode has kept something back, or broken it. */
  readonly counts = new Map<ModeKind, number>();

  constructor(ports: NetworkPorts) {
    this.#ports = ports;
  }

  turn(): Promise<boolean> {
    const { random } = this.#ports;
    const [from, to] = MODE_MS;
    const ms = from * (to / from) ** (random.fraction() ** 1.5);
    return this.#onFree(async (proxy) => {
      const kind = this.#rarest();
      this.#atWork.add(kind);
      const hasTouched = await this.#hold(proxy, modeOf(kind, random), ms);
      this.#atWork.delete(kind);
      if (hasTouched) this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
      return hasTouched;
    });
  }

  /** Every mode has its share. */
  #rarest(): ModeKind {
    const kinds = MODE_KINDS.filter((kind) => !this.#atWork.has(kind));
    const count = (kind: ModeKind) => this.counts.get(kind) ?? 0;
    return kinds.reduce((one, other) => (count(other) < count(one) ? other : one));
  }

  /** Past the silence, so that the pod is taken for dead while it works. */
  cutOff(): Promise<boolean> {
    const { random } = this.#ports;
    const [from, to] = CUT_MS;
    const kind = random.fraction() < 2 / 3 ? 'silence' : 'reset';
    const ms = from + (to - from) * random.fraction();
    return this.#onFree((proxy) => this.#hold(proxy, { kind }, ms), this.#podWays());
  }

  async #hold(proxy: StoreProxy, mode: NetworkMode, ms: number): Promise<boolean> {
    const begunMs = performance.now();
    proxy.turn(mode);
    await sleep(ms);
    while (proxy.touched === 0 && performance.now() - begunMs < TOUCH_MS_MAX) await sleep(LOOK_MS);
    const hasTouched = proxy.touched > 0;
    proxy.heal();
    return hasTouched;
  }

  dropAnswer(): Promise<boolean> {
    return this.#onFree((proxy) => proxy.dropAnswer(ANSWER_MS_MAX));
  }

  #podWays(): StoreProxy[] {
    return this.#ports.houses.filter(({ isReady }) => isReady).map(({ proxy }) => proxy);
  }

  async #onFree(
    act: (proxy: StoreProxy) => Promise<boolean>,
    among?: readonly StoreProxy[],
  ): Promise<boolean> {
    const { ownProxies, random, isOver } = this.#ports;
    if (isOver()) return false;
    const ways = (among ?? [...this.#podWays(), ...ownProxies]).filter(({ isFree }) => isFree);
    const proxy = ways[below(random, Math.max(1, ways.length))];
    if (!proxy) return false;
    proxy.isFree = false;
    try {
      return await act(proxy);
    } finally {
      proxy.isFree = true;
    }
  }
}

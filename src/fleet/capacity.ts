/**
 * How many runs a pod takes in hand: about 80 % of its slots, so that those which come back from a
 * wait find one free; fewer while its event loop is saturated or its memory nearly full, so that a
 * pod which is busy leaves work to those that are not.
 */
import type { Pressure } from '../ground/index.ts';

const SHARE_OF_SLOTS = 0.8;
const SHARE_MIN = 0.25;
/** Where a pressure begins to count, and where it counts in full. */
const LOOP_BAND = [0.9, 1] as const;
const MEMORY_BAND = [0.8, 0.95] as const;
/** How much of a new reading is believed at once. */
const WEIGHT = 0.3;

export class Capacity {
  readonly #slots: number;
  #pressure: Pressure = { loop: 0, memory: 0 };

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** A new reading. The loop's is smoothed, since one busy second is no reason to send work away. */
  feel({ loop, memory }: Pressure): void {
    const smoothed = this.#pressure.loop * (1 - WEIGHT) + loop * WEIGHT;
    this.#pressure = { loop: smoothed, memory };
  }

  /** How many runs may be in hand now: at least one, or nothing would ever move. */
  get count(): number {
    return Math.max(1, Math.floor(this.#slots * this.share));
  }

  get share(): number {
    const { loop, memory } = this.#pressure;
    const relief = Math.min(reliefOf(loop, LOOP_BAND), reliefOf(memory, MEMORY_BAND));
    return SHARE_MIN + (SHARE_OF_SLOTS - SHARE_MIN) * relief;
  }

  get pressure(): Pressure {
    return this.#pressure;
  }
}

/** 1 below the band, 0 above it. */
function reliefOf(pressure: number, [from, to]: readonly [number, number]): number {
  return Math.min(1, Math.max(0, (to - pressure) / (to - from)));
}

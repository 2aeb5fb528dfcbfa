/** Randomness that comes out the same for the same seed. */
import type { Random } from '../../src/ground/index.ts';

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    fraction,
    hex: (count) => {
      let text = '';
      for (let index = 0; index < count; index++) text += BYTES[Math.floor(fraction() * 256)];
      return text;
    },
  };
}

/** A whole number from 0 up to, not including, `countMax`. */
export function below(random: Random, countMax: number): number {
  return Math.floor(random.fraction() * countMax);
}

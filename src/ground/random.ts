/** Randomness as a port, for the same reason as the clock. */
import { randomBytes } from 'node:crypto';

export interface Random {
  /** Uniform in [0, 1). */
  fraction(): number;
  /** `count` random bytes as lower-case hex. */
  hex(count: number): string;
}

export const systemRandom: Random = {
  fraction: () => Math.random(),
  hex: (count) => randomBytes(count).toString('hex'),
};

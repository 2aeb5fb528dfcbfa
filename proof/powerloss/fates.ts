/** The ways a power loss may go that are tried at every point: the extremes, and some by chance. */
import type { Random } from '../../src/ground/index.ts';
import { below, seededRandom } from '../../test/support/seeded-random.ts';
import type { Fate } from './disk.ts';

const CHANCES = 5;
const all = (count: number) => count;
const none = () => 0;

/** Always the same for the same point. */
export function fatesAt(point: number): ReadonlyMap<string, Fate> {
  const isWal = (file: string) => file.endsWith('-wal');
  const isMark = (file: string) => file.startsWith('journal.mark');
  const fates = new Map<string, Fate>([
    ['nothing of it', { keeps: () => false, names: none }],
    ['all of it', { keeps: () => true, names: all }],
    ['names only', { keeps: () => false, names: all }],
    ['names and sizes', { keeps: () => false, names: all, isGrown: true }],
    ['all but the last', { keeps: (_, index, count) => index < count - 1, names: all }],
    ['the last alone', { keeps: (_, index, count) => index === count - 1, names: all }],
    ['the WAL alone', { keeps: isWal, names: all }],
    ['all but the WAL', { keeps: (file) => !isWal(file), names: all }],
    ['the mark alone', { keeps: isMark, names: all }],
    ['all but the mark', { keeps: (file) => !isMark(file), names: all }],
    ['half of each write', { keeps: () => (sector) => sector % 2 === 0, names: all }],
  ]);
  const random = seededRandom(point + 1);
  for (let chance = 0; chance < CHANCES; chance++) fates.set(`chance ${chance}`, byChance(random));
  return fates;
}

function byChance(random: Random): Fate {
  const isGrown = below(random, 4) === 0;
  return {
    keeps: () => {
      const dice = below(random, 3);
      return dice === 2 ? () => below(random, 2) === 0 : dice === 1;
    },
    names: (count) => below(random, count + 1),
    isGrown,
  };
}

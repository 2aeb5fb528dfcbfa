/** Reads the `upgrade` of a definition: for which versions it carries runs over, and by what. */
import type { UpgradeFunction } from './plan.ts';
import type { Reader } from './reader.ts';

const NO_UPGRADES: ReadonlyMap<number, UpgradeFunction> = new Map();

export function readUpgrades(
  reader: Reader,
  version: number,
): ReadonlyMap<number, UpgradeFunction> {
  const upgrade = reader.child('upgrade');
  if (!upgrade) return NO_UPGRADES;
  const upgrades = new Map<number, UpgradeFunction>();
  for (const key of Object.keys(reader.get('upgrade') as object)) {
    const value = upgrade.get(key);
    // As everywhere in a definition: what is undefined is not there.
    if (value === undefined) continue;
    const from = /^[1-9]\d*$/.test(key) ? Number(key) : Number.NaN;
    // A run never goes back, and one of this very version needs no carrying.
    if (!(from < version)) {
      const got = `one from ${JSON.stringify(key)}`;
      throw upgrade.faultOf(key, `an upgrade from a version below ${version}`, got);
    }
    if (typeof value !== 'function') {
      throw upgrade.fault(key, 'a function (old) => old.resumeAt(…) or old.restart(…)', value);
    }
    upgrades.set(from, value as UpgradeFunction);
  }
  return upgrades;
}

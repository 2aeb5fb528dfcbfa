/** The throttles that a module exports: each for itself, or in an array. */
import { exportsOf, isMachine } from '../machine/index.ts';
import type { ThrottleDefinition } from './throttles.ts';

export function throttlesOf(module: Readonly<Record<string, unknown>>): ThrottleDefinition[] {
  return [...new Set(Object.values(exportsOf(module)).flat().filter(isThrottle))];
}

/** By its shape, as what `throttles` of a fleet is given: it may come from another copy of FleetQ. */
function isThrottle(value: unknown): value is ThrottleDefinition {
  if (typeof value !== 'object' || value === null || isMachine(value)) return false;
  const { name, options } = value as Partial<ThrottleDefinition>;
  const isOne = typeof name === 'string' && typeof options === 'object' && options !== null;
  return isOne && Object.isFrozen(value) && Object.keys(value).length === 2;
}

/** The machines that a module exports. */
import { isMachine } from './plan.ts';
import type { Machine } from './types.ts';

type Exports = Readonly<Record<string, unknown>>;

/** A TypeScript file of a CommonJS project has its exports inside `default`. */
export function exportsOf(module: Exports): Exports {
  const inner = module['default'];
  const isWrapped = typeof inner === 'object' && inner !== null && !isMachine(inner);
  return isWrapped ? { ...inner, ...module } : module;
}

export function machinesOf(module: Exports): Machine[] {
  return [...new Set(Object.values(exportsOf(module)).filter(isMachine))];
}

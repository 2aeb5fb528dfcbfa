/**
 * What the two directories of code have, and what may become of a run by the rules: which version goes on
 * with which. Written down beside the machines, and not computed from them: it is what they are held to.
 */
import type { Code } from './roll-pod.ts';

export interface Route {
  readonly machine: string;
  readonly version: number;
}

const at = (version: number, ...machines: string[]): Route[] =>
  machines.map((machine) => ({ machine, version }));

export const ROUTES: Readonly<Record<Code, readonly Route[]>> = {
  v1: at(1, 'steady', 'beside', 'grown', 'reshaped', 'swapped', 'olden'),
  v2: [...at(1, 'steady', 'beside', 'novel'), ...at(2, 'beside', 'grown', 'reshaped', 'swapped')],
};

export const ALL_ROUTES: readonly Route[] = [
  ...ROUTES.v1,
  ...ROUTES.v2.filter((route) => !hasRoute('v1', route)),
];

export const MACHINE_NAMES: readonly string[] = [
  ...new Set(ALL_ROUTES.map(({ machine }) => machine)),
];

/** How a run of version 1 that has begun comes under version 2, where it may. */
export const MOVES: Readonly<Record<string, 'ADVANCED' | 'UPGRADED'>> = {
  grown: 'ADVANCED',
  reshaped: 'UPGRADED',
};

/** Version 2 may begin what version 1 was asked for, where nobody has version 1. */
export const MAY_BEGIN: ReadonlySet<string> = new Set(['grown', 'reshaped', 'swapped']);

export function hasRoute(code: Code, { machine, version }: Route): boolean {
  return ROUTES[code].some((route) => route.machine === machine && route.version === version);
}

export const nameOf = ({ machine, version }: Route): string => `${machine}@${version}`;

/** Which of a module's exports is the machine that is meant. */
import { show } from '../ground/index.ts';
import { exportsOf, isMachine, type Machine } from '../machine/index.ts';
import { CrashTestOptionsError } from './errors.ts';

export function machineIn(
  exported: Readonly<Record<string, unknown>>,
  name: string | undefined,
): Machine {
  const exports = exportsOf(exported);
  return name === undefined ? onlyMachine(exports) : namedMachine(exports, name);
}

function namedMachine(exports: Readonly<Record<string, unknown>>, name: string): Machine {
  const found = exports[name];
  if (isMachine(found)) return found;
  const what = name in exports ? `exports ${show(found)} as ${name}` : `has no export ${name}`;
  throw new CrashTestOptionsError(`the module ${what}, and a machine is wanted`, {
    hint: `it exports ${list(machinesOf(exports)) || 'no machine at all'}`,
  });
}

function onlyMachine(exports: Readonly<Record<string, unknown>>): Machine {
  const found = machinesOf(exports);
  const distinct = [...new Set(found.map(([, machine]) => machine))];
  if (distinct.length === 1) return distinct[0]!;
  if (distinct.length === 0) {
    throw new CrashTestOptionsError('the module exports no machine', {
      hint: 'export what defineMachine returns: export const charge = defineMachine({ … })',
    });
  }
  throw new CrashTestOptionsError(`the module exports several machines: ${list(found)}`, {
    hint: `say which: { exportName: '${found[0]![0]}' }`,
  });
}

function machinesOf(exports: Readonly<Record<string, unknown>>): [string, Machine][] {
  return Object.entries(exports).filter((each): each is [string, Machine] => isMachine(each[1]));
}

function list(found: readonly (readonly [string, Machine])[]): string {
  return found.map(([name]) => name).join(', ');
}

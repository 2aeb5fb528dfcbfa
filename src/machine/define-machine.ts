/**
 * defineMachine: reads a definition once, refuses what is wrong with the path to the fault, copies
 * what it needs, and gives back a frozen machine.
 */

import type { StandardSchemaV1 as Schema } from '@standard-schema/spec';
import { hash, show } from '../ground/index.ts';
import { compileChart } from './chart.ts';
import { DefinitionError } from './errors.ts';
import { readLine } from './line-reader.ts';
import { mermaidOf } from './mermaid.ts';
import { attachPlan, type Plan } from './plan.ts';
import { Reader, SCHEMA_WANTED } from './reader.ts';
import { shapeOf } from './shape.ts';
import { MACHINE_PROPERTIES, readStep, STEP_PROPERTIES } from './step-reader.ts';
import type {
  AnySchema,
  Definition,
  Durable,
  Machine,
  PersistIn,
  Result,
  Wanted,
  WriteWorkAboveThis,
} from './types.ts';
import { readUpgrades } from './upgrade-reader.ts';

/** The name a machine of one step gives it: its states are 'main.check', 'main.work' … */
const SINGLE_STEP = 'main';
const NAME = /^[a-z][a-z0-9_-]{0,63}(\/[a-z0-9][a-z0-9_-]{0,63}){0,7}$/i;

export function defineMachine<
  const N extends string,
  D extends AnySchema,
  W extends Durable<W> = WriteWorkAboveThis,
  P extends Durable<P> & Wanted<Q> = never,
  X extends PersistIn = 'journal',
  Q extends AnySchema | undefined = undefined,
  S = {},
  O = Result<W, P, Q>,
  A = {},
>(definition: Definition<N, D, W, P, X, Q, S, O, A>): Machine<Schema.InferInput<D>, O, N> {
  return machineOf(readPlan(definition)) as Machine<Schema.InferInput<D>, O, N>;
}

function machineOf(plan: Plan): Machine {
  const machine = {
    name: plan.name,
    version: plan.version,
    fingerprint: plan.fingerprint,
    transitions: plan.chart.transitions,
    toXState: () => plan.chart.machine,
    toMermaid: () => mermaidOf(plan),
  };
  attachPlan(machine, plan);
  return Object.freeze(machine);
}

function readPlan(definition: unknown): Plan {
  if (typeof definition !== 'object' || definition === null) {
    throw new DefinitionError('?', 'the definition', 'an object', show(definition));
  }
  const name = readName(new Reader('?', definition as object, ''));
  const reader = new Reader(name, definition as object, '');
  const hasSteps = reader.get('steps') !== undefined;
  reader.allowOnly(hasSteps ? MACHINE_PROPERTIES : [...MACHINE_PROPERTIES, ...STEP_PROPERTIES]);
  const version = reader.get('version');
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw reader.fault('version', 'a whole number of at least 1', version);
  }
  const input = reader.schema('input');
  if (!input) throw reader.fault('input', SCHEMA_WANTED, input);
  const line = hasSteps ? readLine(reader) : [readStep(reader, SINGLE_STEP)];
  const runTimeoutMs = reader.child('timeout')?.limit('run');
  const autonomousMs = readAutonomous(reader, line);
  const chart = compileChart(name, line);
  const shape = shapeOf(name, input, line);
  return Object.freeze({
    name,
    version: version as number,
    input,
    line: Object.freeze(line),
    runTimeoutMs,
    autonomousMs,
    chart,
    shape,
    fingerprint: hash(shape),
    upgrades: readUpgrades(reader, version as number),
  });
}

/** What is committed in the store cannot go on without it. */
function readAutonomous(reader: Reader, line: Plan['line']): number | undefined {
  const autonomousMs = reader.limit('autonomous');
  if (autonomousMs === undefined) return undefined;
  const inStore = line.find((part) => part.kind === 'step' && part.persistIn === 'store');
  if (!inStore) return autonomousMs;
  const wanted = `nothing, since ${inStore.name} persists in the store and waits for it`;
  throw reader.fault('autonomous', wanted, reader.get('autonomous'));
}

function readName(reader: Reader): string {
  const name = reader.get('name');
  if (typeof name === 'string' && NAME.test(name)) return name;
  throw reader.fault(
    'name',
    "letters, digits, '-' and '_', begun by a letter, with '/' between parts, such as 'image/pull'",
    name,
  );
}

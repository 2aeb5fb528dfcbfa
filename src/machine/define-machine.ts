/**
 * defineMachine: reads a definition once, refuses what is wrong with the path to the fault, copies
 * what it needs, and gives back a frozen machine.
 */

import type { StandardSchemaV1 as Schema } from '@standard-schema/spec';
import { hash, show } from '../ground/index.ts';
import { compileChart, PHASES } from './chart.ts';
import { DefinitionError } from './errors.ts';
import { mermaidOf } from './mermaid.ts';
import { attachPlan, type Plan, type SleepPlan, type StepPlan } from './plan.ts';
import { Reader } from './reader.ts';
import { isSchema } from './schema.ts';
import {
  MACHINE_PROPERTIES,
  readRules,
  readSleep,
  readStep,
  STEP_PROPERTIES,
} from './step-reader.ts';
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

/** The name a machine of one step gives it: its states are 'main.check', 'main.work' … */
export const SINGLE_STEP = 'main';
const STEP_COUNT_MAX = 1_000;
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
    transitions: Object.freeze(plan.chart.transitions),
    toXState: () => plan.chart.machine,
    toMermaid: () => mermaidOf(plan),
  };
  attachPlan(machine, plan);
  return Object.freeze(machine);
}

function readPlan(definition: unknown): Plan {
  if (typeof definition !== 'object' || definition === null) {
    throw new DefinitionError('?', 'the definition', 'an object', definition);
  }
  const name = readName(new Reader('?', definition as object, ''));
  const reader = new Reader(name, definition as object, '');
  const hasSteps = reader.get('steps') !== undefined;
  reader.allowOnly(hasSteps ? MACHINE_PROPERTIES : [...MACHINE_PROPERTIES, ...STEP_PROPERTIES]);
  const version = reader.get('version');
  if (!Number.isSafeInteger(version) || (version as number) < 1) {
    throw reader.fault('version', 'a whole number of at least 1', version);
  }
  const input = reader.get('input');
  if (!isSchema(input)) {
    throw reader.fault('input', 'a Standard Schema (zod, valibot, arktype …)', input);
  }
  const line = hasSteps ? readLine(reader) : [readStep(reader, SINGLE_STEP)];
  const runTimeoutMs = reader.child('timeout')?.duration('run');
  const chart = compileChart(name, line);
  return {
    name,
    version: version as number,
    input,
    line,
    runTimeoutMs,
    chart,
    fingerprint: fingerprintOf(name, input, line),
  };
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

/** Runs the author's `steps` callback over a line that only takes notes. */
function readLine(reader: Reader): (StepPlan | SleepPlan)[] {
  const steps = reader.get('steps');
  if (typeof steps !== 'function') {
    throw reader.fault('steps', 'a function (line) => line.step(…)', steps);
  }
  const parts: (StepPlan | SleepPlan)[] = [];
  const rules = readRules(reader, [...PHASES, 'run']);
  const take = (name: unknown, read: (stepName: string) => StepPlan | SleepPlan) => {
    const stepName = readStepName(reader, name, parts);
    parts.push(read(stepName));
    return line;
  };
  const line = Object.freeze({
    step: (name: unknown, step: unknown) =>
      take(name, (stepName) => {
        if (typeof step !== 'object' || step === null) {
          throw reader.fault(`steps.${stepName}`, 'an object with check and work', step);
        }
        const ofStep = new Reader(reader.machine, step, `steps.${stepName}`);
        ofStep.allowOnly([...STEP_PROPERTIES, 'retry', 'timeout']);
        return readStep(ofStep, stepName, rules);
      }),
    sleep: (name: unknown, delay: unknown) =>
      take(name, (stepName) => readSleep(reader, stepName, delay)),
  });
  const answer: unknown = steps(line);
  if (answer !== line) {
    throw reader.fault('steps', 'a function that returns the line it was given', answer);
  }
  if (!parts.some((part) => part.kind === 'step')) {
    throw reader.fault('steps', 'a line with at least one step', `${parts.length} parts`);
  }
  return parts;
}

function readStepName(reader: Reader, name: unknown, parts: readonly { name: string }[]): string {
  if (typeof name !== 'string' || !/^[a-z][a-z0-9_-]{0,63}$/i.test(name) || name in {}) {
    throw reader.fault(
      `steps[${parts.length}]`,
      "named by letters, digits, '-' and '_', begun by a letter",
      name,
    );
  }
  if (parts.some((part) => part.name === name)) {
    throw reader.fault(`steps.${name}`, 'the only step of its name', `a second ${show(name)}`);
  }
  if (parts.length >= STEP_COUNT_MAX) {
    throw reader.fault('steps', `a line of at most ${STEP_COUNT_MAX} steps`, 'more');
  }
  return name;
}

/** Names, order, schemas: what decides whether a recorded run still fits. Never function source. */
function fingerprintOf(
  name: string,
  input: AnySchema,
  line: readonly (StepPlan | SleepPlan)[],
): string {
  const parts = line.map((part) =>
    part.kind === 'sleep'
      ? [part.name, 'sleep']
      : [part.name, ...Object.keys(part.functions).sort(), schemaShape(part.output)],
  );
  return hash(JSON.stringify([name, schemaShape(input), parts]));
}

/** A schema as JSON Schema where its library can tell, else just whose it is. */
function schemaShape(schema: AnySchema | undefined): unknown {
  if (!schema) return null;
  const standard = schema['~standard'] as {
    vendor?: unknown;
    jsonSchema?: { input?: (options: { target: string }) => unknown };
  };
  try {
    return standard.jsonSchema?.input?.({ target: 'draft-2020-12' }) ?? standard.vendor ?? null;
  } catch {
    // Transforms and the like have no JSON Schema; the vendor is all that can be said.
    return standard.vendor ?? null;
  }
}

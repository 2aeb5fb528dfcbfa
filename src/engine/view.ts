/**
 * What a phase sees of its run: input and earlier outputs, as their schemas put them out. Plain data
 * is frozen and shared by all phases; anything else (a Date, a class) is parsed anew for each, so that
 * a phase that changes what it was given changes nothing for the next one, as after a restart.
 */
import type { Json } from '../ground/index.ts';
import { freezeDeep } from '../ground/index.ts';
import { type Parsed, type Plan, parseWith, type StepPlan } from '../machine/index.ts';
import type { LiveRun, RunView } from './live-run.ts';

/** The view for the run's current phase; a promise only where a schema is asynchronous. */
export function viewOf(run: LiveRun): RunView | Promise<RunView> {
  if (run.view) return run.view;
  const input = parseWith(run.plan.input, run.state.input, `the input of ${run.plan.name}`);
  const outputs = Object.entries(run.state.outputs).map(
    ([name, value]) => [name, parseOutput(run.plan, name, value)] as const,
  );
  const isAsync =
    input instanceof Promise || outputs.some(([, parsed]) => parsed instanceof Promise);
  return isAsync ? gather(run, input, outputs) : assemble(run, input, outputs as Settled);
}

type Outputs = readonly (readonly [string, Parsed | Promise<Parsed>])[];
type Settled = readonly (readonly [string, Parsed])[];

async function gather(
  run: LiveRun,
  input: Parsed | Promise<Parsed>,
  outputs: Outputs,
): Promise<RunView> {
  const settled: (readonly [string, Parsed])[] = [];
  for (const [name, parsed] of outputs) settled.push([name, await parsed]);
  return assemble(run, await input, settled);
}

function assemble(run: LiveRun, input: Parsed, outputs: Settled): RunView {
  const view: RunView = { input: input.value, state: stateOf(outputs) };
  const isShareable = input.isShareable && outputs.every(([, parsed]) => parsed.isShareable);
  if (isShareable) run.view = view;
  return view;
}

function stateOf(outputs: Settled): RunView['state'] {
  if (outputs.length === 0) return NO_OUTPUTS;
  return Object.freeze(Object.fromEntries(outputs.map(([name, { value }]) => [name, value])));
}

/** The view of a run whose input was just parsed and which has no outputs yet. */
export function inputView(parsed: Parsed): RunView {
  return { input: parsed.value, state: NO_OUTPUTS };
}

const NO_OUTPUTS: RunView['state'] = Object.freeze({});

/** What a step's output schema, if it has one, makes of the stored value. */
export function parseOutput(plan: Plan, step: string, value: Json): Parsed | Promise<Parsed> {
  const schema = stepOf(plan, step)?.output;
  if (!schema) return { value, isShareable: freezeDeep(value) };
  return parseWith(schema, value, `the output of ${plan.name}, step ${step}`);
}

export function stepOf(plan: Plan, name: string): StepPlan | undefined {
  return plan.line.find((part): part is StepPlan => part.kind === 'step' && part.name === name);
}

/** Machines as a fleet knows them, and as others are told of them. */
import type { MachineInfo } from './admin/index.ts';
import { show } from './ground/index.ts';
import {
  type Machine,
  type Plan,
  planOf,
  type Registry,
  RegistryError,
  routeOf,
  stateOf,
} from './machine/index.ts';

export function machineInfo(plan: Plan): MachineInfo {
  const { name, version, fingerprint, chart, input } = plan;
  const { transitions } = chart;
  const attemptMax = attemptMaxOf(plan);
  return { name, version, fingerprint, transitions, input: jsonSchemaOf(input), attemptMax };
}

function attemptMaxOf({ line, chart }: Plan): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { step, phase } of chart.transitions) {
    const part = line.find(({ name }) => name === step);
    if (phase === 'sleep' || part?.kind !== 'step') continue;
    found[stateOf({ step, phase })] = part.policy[phase].attemptMax;
  }
  return found;
}

/** Some libraries can tell a schema as JSON Schema, by the standard's own extension; others cannot. */
function jsonSchemaOf(schema: Plan['input']): unknown {
  const standard = schema['~standard'] as {
    readonly jsonSchema?: { input?(options: { readonly target: string }): unknown };
  };
  try {
    return standard.jsonSchema?.input?.({ target: 'draft-2020-12' });
  } catch {
    return undefined;
  }
}

export function registeredPlan(registry: Registry, machine: Machine<never, unknown>): Plan {
  const plan = planOf(machine);
  if (!plan)
    throw new RegistryError(`a machine must come from defineMachine, got ${show(machine)}`);
  if (registry.find(plan.name, plan.version) === plan) return plan;
  throw new RegistryError(`the machine ${routeOf(plan)} is not registered here`, {
    hint: 'name it in createFleet({ machines: […] })',
  });
}

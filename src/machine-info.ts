/** A machine as others are told of it. */
import type { MachineInfo } from './admin/index.ts';
import type { Plan } from './machine/index.ts';

export function machineInfo({ name, version, fingerprint, chart, input }: Plan): MachineInfo {
  return { name, version, fingerprint, transitions: chart.transitions, input: jsonSchemaOf(input) };
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

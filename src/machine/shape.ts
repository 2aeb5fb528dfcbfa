/**
 * What of a definition decides whether a recorded run still fits: names, order, phases, schemas; never
 * the source of a function. Its hash is the fingerprint; the shape itself is kept where people may want
 * to know what has changed.
 */
import { PHASES } from './chart.ts';
import type { SleepPlan, StepPlan } from './plan.ts';
import type { AnySchema } from './types.ts';

/** A machine's name, the schema of its input, and its parts: a name, then its phases and its schema. */
type Shape = readonly [string, string | null, readonly (readonly (string | null)[])[]];

export function shapeOf(
  name: string,
  input: AnySchema,
  line: readonly (StepPlan | SleepPlan)[],
): string {
  const parts = line.map((part) =>
    part.kind === 'sleep'
      ? [part.name, 'sleep']
      : [part.name, ...Object.keys(part.functions).sort(), schemaShape(part.output)],
  );
  return JSON.stringify([name, schemaShape(input), parts]);
}

interface Told {
  readonly vendor?: unknown;
  readonly jsonSchema?: {
    input?(options: { readonly target: string; readonly libraryOptions?: object }): unknown;
  };
}

/** Dates and the like have no JSON Schema: zod then tells the rest, if it is asked to. */
const WAYS = [{}, { libraryOptions: { unrepresentable: 'any' } }] as const;

/** A schema as JSON Schema where its library can tell, else just whose it is. */
function schemaShape(schema: AnySchema | undefined): string | null {
  if (!schema) return null;
  const { vendor, jsonSchema } = schema['~standard'] as Told;
  for (const way of WAYS) {
    try {
      const shape = jsonSchema?.input?.({ target: 'draft-2020-12', ...way });
      if (shape !== undefined) return JSON.stringify(shape);
    } catch {
      // In no way: the vendor is all that can be said.
    }
  }
  return String(vendor);
}

/** The state that a line of this shape leads to when a phase is done; undefined where it has none such. */
export function stateAfter(shape: string, state: string): string | undefined {
  const states = statesOf(shape);
  const at = states.indexOf(state);
  return at < 0 ? undefined : (states[at + 1] ?? 'completed');
}

/** Every state that a line of this shape leads through, in order. */
export function statesOf(shape: string): string[] {
  const [, , parts] = JSON.parse(shape) as Shape;
  return [...partsBy(parts)].flatMap(([step, { phases }]) =>
    [...PHASES, 'sleep']
      .filter((phase) => phases.includes(phase))
      .map((phase) => `${step}.${phase}`),
  );
}

/** What is different about the second of two shapes, in words; both as `shapeOf` made them. */
export function changesOf(before: string, after: string): string[] {
  const [, oldInput, oldParts] = JSON.parse(before) as Shape;
  const [, newInput, newParts] = JSON.parse(after) as Shape;
  const [olds, news] = [partsBy(oldParts), partsBy(newParts)];
  const changes: string[] = [];
  if (oldInput !== newInput)
    changes.push(`the schema of its input is ${schemaWas(oldInput, newInput)}`);
  for (const name of olds.keys()) if (!news.has(name)) changes.push(`${name} is gone`);
  for (const [name, part] of news) {
    const old = olds.get(name);
    if (!old) changes.push(`${name} is new`);
    else changes.push(...partChanges(name, old, part));
  }
  const kept = (names: Iterable<string>, others: ReadonlyMap<string, unknown>) =>
    [...names].filter((name) => others.has(name)).join(', ');
  const [was, is] = [kept(olds.keys(), news), kept(news.keys(), olds)];
  if (was !== is) changes.push(`the order is ${is}; it was ${was}`);
  return changes;
}

interface Part {
  readonly phases: readonly string[];
  readonly schema: string | null;
}

function partsBy(parts: Shape[2]): Map<string, Part> {
  return new Map(
    parts.map(([name, ...rest]) => {
      const isSleep = rest.length === 1 && rest[0] === 'sleep';
      const phases = (isSleep ? rest : rest.slice(0, -1)) as string[];
      return [name ?? '', { phases, schema: isSleep ? null : (rest.at(-1) ?? null) }];
    }),
  );
}

function partChanges(name: string, old: Part, part: Part): string[] {
  const changes: string[] = [];
  for (const phase of old.phases) {
    if (!part.phases.includes(phase)) changes.push(`${name} has no ${phase} any more`);
  }
  for (const phase of part.phases) {
    if (!old.phases.includes(phase)) changes.push(`${name} has a ${phase} now`);
  }
  if (old.schema !== part.schema) {
    changes.push(`the output schema of ${name} is ${schemaWas(old.schema, part.schema)}`);
  }
  return changes;
}

const SCHEMA_LENGTH_MAX = 200;

function schemaWas(before: string | null, after: string | null): string {
  const short = (schema: string | null) => {
    if (schema === null) return 'none';
    if (schema.length <= SCHEMA_LENGTH_MAX) return schema;
    return `${schema.slice(0, SCHEMA_LENGTH_MAX)}…`;
  };
  return `${short(after)}; it was ${short(before)}`;
}

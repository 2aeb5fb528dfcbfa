/**
 * Values of a run that is yet to begin, or yet to go on under a newer version: no limit of its machine
 * holds for them so far.
 */
import type { Clock, Json } from '../ground/index.ts';
import { SchemaError } from './errors.ts';
import type { Plan } from './plan.ts';
import { type Parsed, parseWith } from './schema.ts';

/** Whoever starts a run waits for its schema, and is not to wait for ever. */
const INPUT_MS_MAX = 10_000;

/** What the machine's schema makes of `value`; a promise only where the schema is asynchronous. */
export function parseInput(clock: Clock, plan: Plan, value: unknown): Parsed | Promise<Parsed> {
  const what = `the input of ${plan.name}`;
  const parsed = parseWith(plan.input, value, what);
  return parsed instanceof Promise ? inTime(clock, parsed, what) : parsed;
}

/** What a step's output schema makes of a recorded value; nothing where it has none. */
export function parseOutput(
  clock: Clock,
  plan: Plan,
  step: string,
  value: Json,
): Parsed | Promise<Parsed> | undefined {
  const part = plan.line.find(({ name }) => name === step);
  const schema = part?.kind === 'step' ? part.output : undefined;
  if (!schema) return undefined;
  const what = `the output of ${plan.name}, step ${step}`;
  const parsed = parseWith(schema, value, what);
  return parsed instanceof Promise ? inTime(clock, parsed, what) : parsed;
}

function inTime(clock: Clock, parsed: Promise<Parsed>, what: string): Promise<Parsed> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(INPUT_MS_MAX, () => {
      reject(new SchemaError(what, [`the schema has not answered within ${INPUT_MS_MAX} ms`]));
    });
    parsed.then(resolve, reject).finally(cancel);
  });
}

/** The input of a run that is yet to begin: no limit of its machine holds for it so far. */
import type { Clock } from '../ground/index.ts';
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

function inTime(clock: Clock, parsed: Promise<Parsed>, what: string): Promise<Parsed> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(INPUT_MS_MAX, () => {
      reject(new SchemaError(what, [`the schema has not answered within ${INPUT_MS_MAX} ms`]));
    });
    parsed.then(resolve, reject).finally(cancel);
  });
}

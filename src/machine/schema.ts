/** Any Standard Schema, asked for a verdict. */
import { freezeDeep, show } from '../ground/index.ts';
import { SchemaError } from './errors.ts';
import type { AnySchema } from './types.ts';

const ISSUE_COUNT_MAX = 5;
/** An issue is for people; a library may put the whole value into it. */
const ISSUE_LENGTH_MAX = 500;
const PATH_COUNT_MAX = 20;

export interface Parsed {
  readonly value: unknown;
  /** Whether the value is frozen through and through, so that phases may share it. */
  readonly isShareable: boolean;
}

/** What `schema` makes of `value`; throws a SchemaError with the first few issues. */
export function parseWith(
  schema: AnySchema,
  value: unknown,
  what: string,
): Parsed | Promise<Parsed> {
  const refuse = (thrown: unknown): never => {
    if (thrown instanceof SchemaError) throw thrown;
    throw new SchemaError(what, [`the schema itself threw ${show(thrown)}`], { cause: thrown });
  };
  try {
    const answer: Answer | PromiseLike<Answer> = schema['~standard'].validate(thawed(value));
    if (!isThenable(answer)) return accept(answer, what);
    const late = Promise.resolve(answer)
      .then((settled) => accept(settled, what))
      .catch(refuse);
    // Its caller may have failed over another value and be gone: nobody then waits for this one.
    late.catch(() => undefined);
    return late;
  } catch (thrown) {
    return refuse(thrown);
  }
}

/** Some libraries write into a copy that keeps a frozen value's locks: they get one without. */
function thawed(value: unknown): unknown {
  return typeof value === 'object' && Object.isFrozen(value) ? structuredClone(value) : value;
}

type Answer = Awaited<ReturnType<AnySchema['~standard']['validate']>>;

function isThenable(answer: Answer | PromiseLike<Answer>): answer is PromiseLike<Answer> {
  return typeof (answer as { then?: unknown } | undefined)?.then === 'function';
}

function accept(answer: Answer, what: string): Parsed {
  if (!answer.issues) return { value: answer.value, isShareable: freezeDeep(answer.value) };
  const issues = answer.issues.slice(0, ISSUE_COUNT_MAX).map((issue) => {
    const path = (issue.path ?? [])
      .slice(0, PATH_COUNT_MAX)
      .map((part) => clipped(typeof part === 'object' ? part.key : part))
      .join('.');
    return clipped(path ? `${clipped(path)}: ${clipped(issue.message)}` : issue.message);
  });
  if (answer.issues.length > ISSUE_COUNT_MAX) {
    issues.push(`and ${answer.issues.length - ISSUE_COUNT_MAX} more`);
  }
  throw new SchemaError(what, issues);
}

function clipped(text: unknown): string {
  const whole = String(text);
  return whole.length <= ISSUE_LENGTH_MAX ? whole : `${whole.slice(0, ISSUE_LENGTH_MAX - 1)}…`;
}

export function isSchema(value: unknown): value is AnySchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as { '~standard'?: { validate?: unknown } })['~standard'];
  return typeof standard?.validate === 'function';
}

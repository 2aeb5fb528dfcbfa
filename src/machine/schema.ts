/** Any Standard Schema, asked for a verdict. */
import { freezeDeep } from '../ground/index.ts';
import { SchemaError } from './errors.ts';
import type { AnySchema } from './types.ts';

const ISSUE_COUNT_MAX = 5;

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
  const answer = schema['~standard'].validate(value);
  return answer instanceof Promise
    ? answer.then((late) => accept(late, what))
    : accept(answer, what);
}

type Answer = Awaited<ReturnType<AnySchema['~standard']['validate']>>;

function accept(answer: Answer, what: string): Parsed {
  if (!answer.issues) return { value: answer.value, isShareable: freezeDeep(answer.value) };
  const issues = answer.issues.slice(0, ISSUE_COUNT_MAX).map((issue) => {
    const path = (issue.path ?? [])
      .map((part) => String(typeof part === 'object' ? part.key : part))
      .join('.');
    return path ? `${path}: ${issue.message}` : issue.message;
  });
  if (answer.issues.length > ISSUE_COUNT_MAX) {
    issues.push(`and ${answer.issues.length - ISSUE_COUNT_MAX} more`);
  }
  throw new SchemaError(what, issues);
}

export function isSchema(value: unknown): value is AnySchema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard = (value as { '~standard'?: { validate?: unknown } })['~standard'];
  return typeof standard?.validate === 'function';
}

/** What is different between two values, as lines: a path, what was there, what is there now. Pure. */
import { showJson } from '../../format/lossless.ts';

export interface DiffLine {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export const LINES_MAX = 400;
const DEPTH_MAX = 60;

export function diffOf(before: unknown, after: unknown): DiffLine[] {
  const lines: DiffLine[] = [];
  walk('', before, after, lines, 0);
  return lines;
}

function walk(
  path: string,
  before: unknown,
  after: unknown,
  lines: DiffLine[],
  depth: number,
): void {
  if (lines.length >= LINES_MAX || Object.is(before, after)) return;
  if (isObject(before) && isObject(after) && depth < DEPTH_MAX) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    for (const key of [...keys].sort()) {
      walk(join(path, key), own(before, key), own(after, key), lines, depth + 1);
    }
    return;
  }
  const [was, is] = [textOf(before), textOf(after)];
  if (was !== is) lines.push({ path: path || '(all)', before: was, after: is });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function own(of: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(of, key) ? of[key] : undefined;
}

function join(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : showJson(value, 0);
}

/**
 * What people are shown of a value, without what its owner has named as secret. What is stored stays as
 * it is. A name hides every property of that name, at whatever depth; a path of several names, with a dot
 * between, hides what it leads to from the top, where `*` stands for any one name or index and `**` for
 * any number of them. Letters count the same in either case.
 */
import type { Json, JsonObject } from './json.ts';

export const REDACTED = '[redacted]';

/** Deeper than anything that can be journaled; what is below is hidden, and not followed. */
const DEPTH_MAX = 256;

const ANY_ONE = '*';
const ANY_NUMBER = '**';

type Path = readonly string[];

/** A name or a path that cannot hide anything, in words; undefined where it can. */
export function unfitRedaction(name: unknown): string | undefined {
  if (typeof name !== 'string' || name.length === 0 || name.length > 200) {
    return 'a name or a path of 1 to 200 characters';
  }
  const parts = name.split('.');
  if (parts.includes('')) return 'a path whose parts are not empty';
  if (parts.at(-1) === ANY_NUMBER) return "a path that ends in a name or in '*'";
  return undefined;
}

/** The same value with `[redacted]` in the place of what is named; the value itself where nothing is. */
export function redact(json: Json, names: readonly string[]): Json {
  return redactor(names)(json);
}

/** For many values under the same names. */
export function redactor(names: readonly string[]): (json: Json) => Json {
  const paths = names.map(pathOf);
  return paths.length === 0 ? (json) => json : (json) => hide(json, paths, 0);
}

function pathOf(name: string): Path {
  const parts = name.toLowerCase().split('.');
  return parts.length === 1 && parts[0] !== ANY_ONE ? [ANY_NUMBER, ...parts] : parts;
}

function hide(json: Json, paths: readonly Path[], depth: number): Json {
  if (typeof json !== 'object' || json === null) return json;
  if (depth >= DEPTH_MAX) return REDACTED;
  if (Array.isArray(json)) return hideItems(json as readonly Json[], paths, depth);
  return hideProperties(json as JsonObject, paths, depth);
}

function hideItems(items: readonly Json[], paths: readonly Path[], depth: number): Json {
  let isSame = true;
  const shown = items.map((item, index) => {
    const now = below(item, `${index}`, paths, depth);
    isSame &&= now === item;
    return now;
  });
  return isSame ? items : shown;
}

function hideProperties(json: JsonObject, paths: readonly Path[], depth: number): Json {
  let isSame = true;
  const entries = Object.entries(json).map(([name, value]) => {
    if (value === undefined) return [name, value] as const;
    const now = below(value, name, paths, depth);
    isSame &&= now === value;
    return [name, now] as const;
  });
  // Not by assignment: a property may be called __proto__.
  return isSame ? json : Object.fromEntries(entries);
}

function below(value: Json, name: string, paths: readonly Path[], depth: number): Json {
  const left = paths.flatMap((path) => stepsOf(path, name.toLowerCase()));
  if (left.some((path) => path.length === 0)) return REDACTED;
  return left.length === 0 ? value : hide(value, left, depth + 1);
}

/** What is left of a path behind this name, in each way it can be read; none where it leads elsewhere. */
function stepsOf(path: Path, name: string): Path[] {
  const [first, ...rest] = path;
  if (first === undefined) return [];
  if (first === ANY_NUMBER) return [path, ...stepsOf(rest, name)];
  return first === ANY_ONE || first === name ? [rest] : [];
}

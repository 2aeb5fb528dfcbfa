/**
 * A form made from a JSON Schema: as far as it is a flat object its properties are fields of their
 * own; whatever is nested is JSON in a field. The machine has the last word: this only helps. Pure.
 */
export type FieldKind = 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'json';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  readonly isRequired: boolean;
  readonly about: string | undefined;
  readonly choices: readonly unknown[];
  readonly otherwise: unknown;
  readonly schema: Schema;
}

export type Schema = Readonly<Record<string, unknown>>;

const FIELDS_MAX = 100;

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined where the schema is none, or not that of an object: then there is only JSON. */
export function fieldsOf(schema: unknown): readonly Field[] | undefined {
  if (!isObject(schema) || schema['type'] !== 'object') return undefined;
  const properties = schema['properties'];
  if (!isObject(properties)) return undefined;
  const names = Object.keys(properties);
  if (names.length === 0 || names.length > FIELDS_MAX) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return names.map((name) => fieldOf(name, properties[name], required.includes(name)));
}

function fieldOf(name: string, given: unknown, isRequired: boolean): Field {
  const schema = isObject(given) ? given : {};
  const about = schema['description'];
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : [];
  return {
    name,
    kind: kindOf(schema, choices),
    isRequired: isRequired && !('default' in schema),
    about: typeof about === 'string' ? about : undefined,
    choices,
    otherwise: schema['default'],
    schema,
  };
}

function kindOf(schema: Schema, choices: readonly unknown[]): FieldKind {
  if (choices.length > 0) return 'choice';
  const { type } = schema as { readonly type?: unknown };
  if (type === 'string') return 'text';
  return type === 'number' || type === 'integer' || type === 'boolean' ? type : 'json';
}

/** What was typed, by the name of its field; nothing typed is nothing said. */
export type Typed = Readonly<Record<string, string>>;

export type Read =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'wrong'; readonly why: string };

export function readField(field: Field, typed: string | undefined): Read {
  if (typed === undefined || typed === '') {
    return field.isRequired ? { kind: 'wrong', why: 'is needed' } : { kind: 'nothing' };
  }
  switch (field.kind) {
    case 'text':
      return textIn(field.schema, typed);
    case 'number':
    case 'integer':
      return numberIn(field, typed);
    case 'boolean':
      return { kind: 'value', value: typed === 'true' };
    case 'choice':
      return { kind: 'value', value: field.choices[Number(typed)] };
    case 'json':
      return jsonIn(typed);
  }
}

function textIn(schema: Schema, typed: string): Read {
  const { minLength, maxLength } = schema as Record<string, number | undefined>;
  const wrong = (why: string): Read => ({ kind: 'wrong', why });
  if (minLength !== undefined && typed.length < minLength) {
    return wrong(`wants ${minLength} characters or more`);
  }
  if (maxLength !== undefined && typed.length > maxLength) {
    return wrong(`wants ${maxLength} characters or less`);
  }
  return { kind: 'value', value: typed };
}

function numberIn({ kind, schema }: Field, typed: string): Read {
  const value = Number(typed);
  const wrong = (why: string): Read => ({ kind: 'wrong', why });
  if (typed.trim() === '' || !Number.isFinite(value)) return wrong('wants a number');
  if (kind === 'integer' && !Number.isInteger(value)) return wrong('wants a whole number');
  if (kind === 'integer' && !Number.isSafeInteger(value)) {
    return wrong('is larger than numbers can be told exactly');
  }
  const { minimum, maximum } = schema as Record<string, number | undefined>;
  if (minimum !== undefined && value < minimum) return wrong(`wants ${minimum} or more`);
  if (maximum !== undefined && value > maximum) return wrong(`wants ${maximum} or less`);
  return { kind: 'value', value };
}

export function jsonIn(typed: string): Read {
  try {
    return { kind: 'value', value: JSON.parse(typed) };
  } catch (error) {
    return { kind: 'wrong', why: `is not JSON: ${(error as Error).message}` };
  }
}

export interface Filled {
  readonly input: Readonly<Record<string, unknown>>;
  readonly wrong: Readonly<Record<string, string>>;
}

export function fill(fields: readonly Field[], typed: Typed): Filled {
  const input: Record<string, unknown> = {};
  const wrong: Record<string, string> = {};
  for (const field of fields) {
    const read = readField(field, typed[field.name]);
    if (read.kind === 'value') Object.defineProperty(input, field.name, plain(read.value));
    else if (read.kind === 'wrong') wrong[field.name] = read.why;
  }
  return { input, wrong };
}

/** A property called __proto__ is a property. */
const plain = (value: unknown) => ({
  value,
  enumerable: true,
  writable: true,
  configurable: true,
});

/** What the fields say of an input: for somebody who comes back from JSON. */
export function typedOf(fields: readonly Field[], input: unknown): Typed {
  if (!isObject(input)) return {};
  const texts = fields.flatMap(({ name, kind, choices }) => {
    if (!Object.hasOwn(input, name)) return [];
    const value = input[name];
    if (kind === 'choice') return [[name, `${Math.max(0, choices.indexOf(value))}`]];
    return [[name, kind === 'json' ? JSON.stringify(value) : `${value as string}`]];
  });
  return Object.fromEntries(texts) as Typed;
}

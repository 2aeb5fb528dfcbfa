/** The table of routes as an OpenAPI 3.1 document, whose schemas are JSON Schema as it is. */
import * as z from 'zod';
import { version } from '../config/index.ts';
import { Problem } from './routes/shapes.ts';
import { PREFIX, type Route } from './table.ts';

type Schema = { [name: string]: unknown };

const REQUEST_NAME = headerOf(
  'idempotency-key',
  'names the change: sent again under this name it is made once',
);
const REVISION = headerOf('if-match', 'only if its revision is still this one');

export function openapiOf(routes: readonly Route[]): object {
  const schemas: Schema = {};
  const paths: { [path: string]: { [method: string]: object } } = {};
  for (const route of routes) {
    const path = PREFIX + route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] ??= {};
    paths[path][route.method.toLowerCase()] = operationOf(route, schemas);
  }
  collect(Problem, schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'FleetQ',
      version: version(),
      description: 'Runs, their records, the pods that execute them, and what people may do.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'fleetq_session' },
      },
    },
  };
}

function operationOf(route: Route, schemas: Schema): object {
  const { method, path, role, changes, summary, query, body, answers } = route;
  const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
  const content = jsonOf(collect(answers.schema, schemas));
  return {
    operationId: idOf(route),
    summary,
    description: describe(route),
    security: role === 'open' ? [] : [{ token: [] }, { session: [] }],
    parameters: [
      ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...Object.entries(query).map(([name, schema]) => parameterOf(name, schema as z.ZodType)),
      ...(changes === 'act' && method === 'POST' ? [REQUEST_NAME] : []),
      // What has a revision takes it in the body, too.
      ...(body !== undefined && 'ifRevision' in body ? [REVISION] : []),
    ],
    ...(body === undefined
      ? {}
      : {
          requestBody: { required: true, content: jsonOf(collect(z.strictObject(body), schemas)) },
        }),
    responses: {
      [answers.status]: { description: summary, content },
      ...mapped(answers.also ?? {}, (description) => ({ description, content })),
      default: {
        description: 'a problem, with its code',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
  };
}

function mapped(of: object, each: (text: string) => object): object {
  return Object.fromEntries(Object.entries(of).map(([name, text]) => [name, each(text)]));
}

function describe({ role, changes, reveals }: Route): string {
  if (role === 'open') return 'For those who are not known yet.';
  const reveal = reveals
    ? ' Shows payloads: where they are masked that takes the role to reveal them, and is audited.'
    : '';
  return `Needs the role ${role}.${reveal}${changes === 'act' ? ' Leaves a row in the audit log.' : ''}`;
}

/** GET /runs/:id/events → getRunsIdEvents */
function idOf({ method, path }: Route): string {
  const words = path.split(/\W+/).filter((word) => word !== '');
  const capital = words.map((word) => word[0]!.toUpperCase() + word.slice(1));
  return method.toLowerCase() + capital.join('');
}

function parameterOf(name: string, schema: z.ZodType): object {
  const { description, ...rest } = toSchema(schema);
  const isRequired = !schema.safeParse(undefined).success;
  return { name, in: 'query', required: isRequired, description, schema: rest };
}

function headerOf(name: string, description: string): object {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}

function jsonOf(schema: Schema): object {
  return { 'application/json': { schema } };
}

function toSchema(schema: z.ZodType): Schema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { unrepresentable: 'any' }) as Schema;
  return rest;
}

/** What has a name goes to where names are looked up, once. */
function collect(schema: z.ZodType, schemas: Schema): Schema {
  const { $defs = {}, ...rest } = toSchema(schema) as Schema & { $defs?: Schema };
  for (const [name, part] of Object.entries($defs)) schemas[name] = withRefs(part);
  const id = rest['id'];
  if (typeof id !== 'string') return withRefs(rest) as Schema;
  schemas[id] = withRefs(rest);
  return { $ref: `#/components/schemas/${id}` };
}

function withRefs(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withRefs);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(
    ([name, of]) => name !== 'id' || typeof of !== 'string',
  );
  return Object.fromEntries(
    entries.map(([name, of]) => [
      name,
      name === '$ref' && typeof of === 'string'
        ? of.replace('#/$defs/', '#/components/schemas/')
        : withRefs(of),
    ]),
  );
}

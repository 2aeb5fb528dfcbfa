/** The description of the API is valid, and tells every route as the table has it. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { openapiOf } from '../../src/admin/openapi.ts';
import { ROUTES } from '../../src/admin/routes/index.ts';
import { PREFIX } from '../../src/admin/table.ts';
import { useHouses } from './house.ts';

const openHouse = useHouses();

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, { operationId: string; security: unknown[] }>>;
  readonly components: { readonly schemas: Record<string, unknown> };
}

test('it is a valid OpenAPI 3.1 document', async () => {
  const answer = await new Validator().validate(JSON.parse(JSON.stringify(openapiOf(ROUTES))));
  expect(answer.errors ?? []).toEqual([]);
  expect(answer.valid).toBe(true);
});

test('it has every route once, under a name of its own, and whatever it refers to', () => {
  const document = openapiOf(ROUTES) as Document;
  const told = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const wanted = ROUTES.map(
    ({ method, path }) => `${method} ${PREFIX}${path.replaceAll(/:(\w+)/g, '{$1}')}`,
  );
  expect(told.sort()).toEqual(wanted.sort());
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const names = operations.map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(names.length);
  const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  expect(refs.length).toBeGreaterThan(10);
  const missing = refs
    .map(([, name]) => name!)
    .filter((name) => !(name in document.components.schemas));
  expect(missing).toEqual([]);
});

test('a revision may be asked for where there is one: of what is done to a run', () => {
  const { paths } = openapiOf(ROUTES) as {
    readonly paths: Record<string, { readonly post?: { readonly parameters: { name: string }[] } }>;
  };
  const guarded = Object.entries(paths).filter(([, { post }]) =>
    post?.parameters.some(({ name }) => name === 'if-match'),
  );
  const of = guarded.map(([path]) => path);
  expect(of).toContain(`${PREFIX}/runs/{id}/cancel`);
  expect(of.filter((path) => !path.startsWith(`${PREFIX}/runs/{id}/`))).toEqual([]);
  for (const path of Object.keys(paths).filter((one) => one.startsWith(`${PREFIX}/runs/{id}/`))) {
    if (paths[path]!.post) expect(of).toContain(path);
  }
});

test('it is served', async () => {
  const house = await openHouse({ grants: [], hasStore: false });
  const { status, body } = await house.ask('GET', `${PREFIX}/openapi.json`);
  expect([status, body]).toEqual([200, JSON.parse(JSON.stringify(openapiOf(ROUTES)))]);
});

/** The API, told in the words of OpenAPI. */
import * as z from 'zod';
import { openapiOf } from '../openapi.ts';
import { ok, type Route, route } from '../table.ts';

export function openapiRoutes(routes: () => readonly Route[]): Route[] {
  return [
    route({
      method: 'GET',
      path: '/openapi.json',
      role: 'read',
      changes: 'none',
      summary: 'this API as an OpenAPI 3.1 document',
      query: {},
      answers: { status: 200, schema: z.looseObject({ openapi: z.string() }) },
      answer: async () => ok(openapiOf(routes())),
    }),
  ];
}

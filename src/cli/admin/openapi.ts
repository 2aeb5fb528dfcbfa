/** fleetq openapi: the HTTP API as an OpenAPI 3.1 document. */
import type { Execute } from '../command.ts';
import { Exit } from '../exit.ts';

export const openapi: Execute = async ({ output }) => {
  const { openapiOf } = await import('../../admin/openapi.ts');
  const { ROUTES } = await import('../../admin/routes/index.ts');
  output.json(openapiOf(ROUTES));
  return Exit.ok;
};

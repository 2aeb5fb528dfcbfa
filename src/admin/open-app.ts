/** An app of our own, which our servers hand their requests to. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import Fastify from 'fastify';
import { HEADERS } from './answer-headers.ts';
import { type AppPorts, fail, mount } from './app.ts';
import { RequestError } from './problem.ts';
import { PREFIX } from './table.ts';
import { openUi, pathOf } from './ui.ts';

/** An id is never so long; what is longer is found nowhere, and is told so by us. */
const PARAM_LENGTH_MAX = 8_192;

export async function openApp(
  ports: AppPorts,
): Promise<(request: IncomingMessage, response: ServerResponse) => void> {
  const app = Fastify({
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    // Only a path that is no path comes here: nobody is known yet, and nothing is told.
    frameworkErrors: (error, request, reply) => {
      reply.headers(HEADERS);
      const said = new RequestError(error.statusCode ?? 400, 'FLEETQ_BAD_REQUEST', error.message);
      fail(said, request, reply);
    },
  });
  app.register(async (instance) => mount(instance, ports), { prefix: PREFIX });
  await app.register(async (instance) => {
    const ui = openUi();
    instance.setNotFoundHandler((request, reply) => {
      if (ui?.answer(pathOf(request), request, reply)) return reply;
      reply.headers(HEADERS);
      throw new RequestError(404, 'FLEETQ_NO_SUCH_PATH', 'there is nothing here', HINT);
    });
  });
  app.setErrorHandler((error, request, reply) => fail(error, request, reply));
  await app.ready();
  return (request, response) => app.routing(request, response);
}

const HINT = `everything is below ${PREFIX}`;

/**
 * The HTTP API as a plugin for a Fastify app that is there already: the same routes, under the same
 * rules, behind whatever the app does before them.
 */
import '../ground/refuse-old-node.ts';

import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { grantsOf, readTokens } from '../config/index.ts';
import { systemClock, systemRandom } from '../ground/index.ts';
import { mount } from './app.ts';
import { addressDoor, type Visitor } from './door/door.ts';
import type { FleetPort } from './fleet-port.ts';
import { deskOf } from './serve.ts';
import { PREFIX } from './table.ts';
import { mountUi } from './ui.ts';

export interface FleetAdminOptions {
  /** Who may come in: lines of `fleetq token new`. Without any only this host is let in. */
  readonly tokens?: readonly string[] | undefined;
  /** Names under which browsers may call the app. */
  readonly hosts?: readonly string[] | undefined;
  readonly sessionSecret?: string | undefined;
  /** Names of properties that nobody is shown. */
  readonly redact?: readonly string[] | undefined;
  /** The largest input, in bytes, that can be started with; 1 MiB by default. */
  readonly inputBytesMax?: number | undefined;
  /** Serve the pages for people as well: everything below the prefix it is registered with is theirs. */
  readonly pages?: boolean | undefined;
}

export type { Visitor };

/** A plugin: `await app.register(fleetAdmin(fleet, { tokens }))` answers below /api/v1. */
export function fleetAdmin(
  fleet: FleetPort,
  options: FleetAdminOptions = {},
): (instance: FastifyInstance) => Promise<void> {
  const [clock, random] = [systemClock, systemRandom];
  const { tokens = [], hosts, sessionSecret, redact: redacted = [] } = options;
  const grants = tokens.length === 0 ? [] : grantsOf(readTokens(tokens, 'tokens'));
  const resultBytesMax = options.inputBytesMax ?? 1024 * 1024;
  const desk = deskOf({ fleet, clock, random, resultBytesMax, redacted });
  const door = addressDoor({ grants, hosts, sessionSecret, clock, random });
  return async (instance) => {
    await instance.register((inner) => mount(inner, { desk, doorOf: () => door }), {
      prefix: PREFIX,
    });
    if (options.pages) mountUi(instance);
    const silent = silentOf(instance.server);
    // Before the app waits for its connections: whoever looks on would keep it from closing.
    instance.addHook('preClose', async () => {
      desk.live.stop();
      for (const socket of silent()) socket.destroy();
    });
    instance.addHook('onClose', async () => desk.shared?.close());
  };
}

/**
 * Connections on which nothing was ever said. Browsers open some to be faster with what they may ask
 * next; Node takes them for busy until they have been silent for a minute, and does not close them.
 */
function silentOf(server: Pick<Server, 'on'>): () => readonly Socket[] {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  return () => [...open].filter(({ bytesRead }) => bytesRead === 0);
}

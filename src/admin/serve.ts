/** A fleet answers on the socket of the data directory that it holds, and on an address if wanted. */
import { userInfo } from 'node:os';
import { type Grant, version } from '../config/index.ts';
import { type Clock, describeError, hash, isoTime, type Random } from '../ground/index.ts';
import { placeOf } from '../journal/index.ts';
import { tell } from '../telemetry/events.ts';
import type { Desk } from './desk/desk.ts';
import { Shared } from './desk/shared.ts';
import { addressDoor, socketDoor } from './door/door.ts';
import { isLoopback } from './door/sites.ts';
import { OpenListenError } from './errors.ts';
import type { FleetPort } from './fleet-port.ts';
import { journalSources, LiveHub, type Sources } from './live/index.ts';
import { AdminServer } from './server.ts';

/** An address to answer on, and who may come in there. */
export interface ListenOptions {
  /** 'host:port', or ':port' for every interface. */
  readonly address: string;
  /** Without any it is a loopback address. */
  readonly grants?: readonly Grant[] | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly sessionSecret?: string | undefined;
}

export interface ServeOptions {
  readonly fleet: FleetPort;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly resultBytesMax: number;
  readonly redacted: readonly string[];
  /** Whether a socket that cannot be made is an error. Runs need none, so by default it is told. */
  readonly isRequired: boolean;
}

/** A body holds an input, perhaps with indentation, and a few words around it. */
const BODY_SLACK = 64 * 1024;

export function bodyBytesMaxOf(resultBytesMax: number): number {
  return resultBytesMax * 2 + BODY_SLACK;
}

export function aboutProcess(clock: Clock): object {
  return { pid: process.pid, version: version(), since: isoTime(clock.now()) };
}

/** One for all who look on; it names this process in their cursors. */
export function liveOf(clock: Clock, sources: Sources): LiveHub {
  const teller = hash(`${process.pid} ${clock.now()} ${clock.monotonicMs()}`).slice(0, 12);
  return new LiveHub({ clock, sources, teller });
}

/** What is served of a process that executes. */
export function deskOf(options: Omit<ServeOptions, 'dataDir' | 'isRequired'>): Desk {
  const { fleet, clock, random, redacted } = options;
  const { codec } = fleet;
  return {
    fleet,
    clock,
    random,
    redacted,
    codec,
    journal: fleet,
    shared: fleet.shared && new Shared(fleet.shared),
    live: liveOf(clock, fleet.sources ?? journalSources(fleet, codec)),
    get machines() {
      return fleet.machines;
    },
    bodyBytesMax: bodyBytesMaxOf(options.resultBytesMax),
    about: aboutProcess(clock),
  };
}

/** A server, with its socket where there can be one: not under a path that is too long for it. */
export async function serveFleet(options: ServeOptions): Promise<AdminServer> {
  const path = placeOf(options.dataDir).socket;
  const server = new AdminServer(deskOf(options));
  try {
    await server.start(path, socketDoor(ownerName()));
  } catch (error) {
    if (options.isRequired) throw error;
    tell('socket.failed', () => ({ path, error: describeError(error) }));
  }
  return server;
}

/** Answers on an address; refused where everybody could ask and nobody is asked who they are. */
export async function listenOn(
  server: AdminServer,
  { address, grants = [], hosts, sessionSecret }: ListenOptions,
  { clock, random }: Pick<ServeOptions, 'clock' | 'random'>,
): Promise<string> {
  const cut = address.lastIndexOf(':');
  const host = address.slice(0, cut).replaceAll(/[[\]]/g, '');
  refuseOpen(host, grants);
  return server.listen(
    host,
    Number(address.slice(cut + 1)),
    addressDoor({ grants, hosts, sessionSecret, clock, random }),
  );
}

export function refuseOpen(host: string, grants: readonly Grant[]): void {
  if (grants.length > 0 || isLoopback(host)) return;
  throw new OpenListenError(
    `without a token it answers on loopback alone, and ${host || 'every interface'} is not that`,
    {
      hint:
        'make a token with `fleetq token new --name you --role admin` and set FLEETQ_TOKENS, ' +
        'or listen on 127.0.0.1',
    },
  );
}

function ownerName(): string {
  try {
    return `${userInfo().username}@socket`;
  } catch {
    return 'owner@socket';
  }
}

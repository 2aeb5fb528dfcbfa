/** A fleet of one pod with a store, answering on an address with tokens: what tests of the API ask. */
import { createHash } from 'node:crypto';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import * as z from 'zod';
import {
  type AdminServer,
  AdminServer as AdminServerOf,
  addressDoor,
  deskOf,
  hashOfSecret,
  newSecret,
} from '../../src/admin/index.ts';
import type { Grant, Role } from '../../src/config/index.ts';
import { type Codec, identityCodec, systemClock, systemRandom } from '../../src/ground/index.ts';
import { createFleet, defineMachine, exponential, type Fleet, openStore } from '../../src/index.ts';
import { gate } from '../support/fleets.ts';
import { useTempDirs } from '../support/temp-dir.ts';

export const CANARY = 'canary-7f3a';

export interface Told {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what is being tested
  readonly body: any;
  readonly text: string;
}

export interface House {
  readonly fleet: Fleet;
  readonly server: AdminServer;
  readonly at: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** Lets the phases of `test/gated` go on. */
  readonly opening: ReturnType<typeof gate<void>>;
  ask(method: string, path: string, options?: Asking): Promise<Told>;
  as(name: string): Readonly<Record<string, string>>;
  /** Another process that answers for the same fleet, under the same secret; where it does. */
  beside(): Promise<string>;
  /** One figure over all rows that people can change. */
  digest(): Promise<string>;
}

export interface Asking {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HouseOptions {
  readonly grants?: readonly (readonly [name: string, role: Role, mayReveal: boolean])[];
  readonly hasStore?: boolean;
  readonly isLimited?: boolean;
  readonly hosts?: readonly string[];
  readonly redact?: readonly string[];
  /** Of the fleet; whoever answers has not got it. */
  readonly codec?: Codec;
}

const GRANTS: NonNullable<HouseOptions['grants']> = [
  ['ruth', 'read', false],
  ['rev', 'read', true],
  ['olga', 'operate', false],
  ['ada', 'admin', false],
];

function machines(opening: ReturnType<typeof gate<void>>) {
  const once = { attemptMax: 1, backoff: exponential('1ms') };
  const any = z.object({ secret: z.string().optional(), n: z.number().optional() });
  return [
    defineMachine({
      name: 'test/double',
      version: 1,
      input: z.object({ n: z.number(), secret: z.string().optional() }),
      check: 'none',
      work: ({ input }) => ({ double: input.n * 2, secret: input.secret ?? null }),
    }),
    defineMachine({
      name: 'test/gated',
      version: 1,
      input: any,
      retry: once,
      check: 'none',
      work: () => opening.opened.then(() => 'open'),
      persist: ({ work }) => work,
    }),
    defineMachine({
      name: 'test/nested',
      version: 1,
      input: any,
      check: 'none',
      work: ({ input }) => ({ card: { number: input.secret ?? null } }),
    }),
    defineMachine({
      name: 'test/failing',
      version: 1,
      input: any,
      retry: once,
      check: 'none',
      work: ({ input }) => {
        throw new Error(`no good: ${input.secret}`);
      },
    }),
  ];
}

/** Houses that are closed after each test. */
export function useHouses() {
  const newDir = useTempDirs();
  const open: { server: AdminServer; fleet: Fleet; opening: ReturnType<typeof gate<void>> }[] = [];
  const others: AdminServer[] = [];
  afterEach(async () => {
    for (const other of others.splice(0)) await other.stop();
    for (const { server, fleet, opening } of open.splice(0)) {
      opening.open();
      await server.stop();
      await fleet.drain();
    }
  });
  return async (options: HouseOptions = {}): Promise<House> => {
    const opening = gate<void>();
    const dataDir = newDir();
    const ports = { clock: systemClock, random: systemRandom, migrates: true };
    const url = `sqlite:${join(dataDir, 'fleet.db')}`;
    const store = options.hasStore === false ? undefined : await openStore(url, ports);
    const redact = options.redact ?? [];
    const fleet = await createFleet({
      machines: machines(opening),
      dataDir,
      socket: false,
      archive: '50ms',
      heartbeat: '100ms',
      silence: '20s',
      ...(store === undefined ? {} : { store }),
      ...(options.codec === undefined ? {} : { codec: options.codec }),
    });
    const secrets: Record<string, string> = {};
    const grants = (options.grants ?? GRANTS).map(([name, role, mayReveal]): Grant => {
      const secret = newSecret(systemRandom);
      secrets[name] = secret;
      return { name, role, mayReveal, hash: hashOfSecret(secret) };
    });
    const [clock, random] = [systemClock, systemRandom];
    const seeing = deskOf({ fleet, clock, random, resultBytesMax: 20_000, redacted: redact });
    const desk = options.codec === undefined ? seeing : { ...seeing, codec: identityCodec };
    const server = new AdminServerOf(desk);
    // So little that no machine is too slow to come to its end.
    const rate = options.isLimited
      ? { perSecond: 0.01, burst: 30 }
      : { perSecond: 1e6, burst: 1e6 };
    const sessionSecret = systemRandom.hex(32);
    const newDoor = () =>
      addressDoor({ grants, hosts: options.hosts, sessionSecret, clock, random, rate });
    const door = newDoor();
    const at = await server.listen('127.0.0.1', 0, door);
    open.push({ server, fleet, opening });
    const ask = (method: string, path: string, asking: Asking = {}) =>
      send(at, method, path, asking);
    const as = (name: string) => ({ authorization: `Bearer ${secrets[name]}` });
    const beside = async () => {
      const another = new AdminServerOf(
        deskOf({ fleet, clock, random, resultBytesMax: 20_000, redacted: redact }),
      );
      others.push(another);
      return another.listen('127.0.0.1', 0, newDoor());
    };
    return { fleet, server, at, secrets, beside, opening, ask, as, digest: () => digestOf(fleet) };
  };
}

export async function send(
  at: string,
  method: string,
  path: string,
  { body, headers = {} }: Asking,
): Promise<Told> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  const type: Record<string, string> =
    text === undefined || 'content-type' in headers ? {} : { 'content-type': 'application/json' };
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(at) ?? [];
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const all = { ...type, ...headers };
    const sent = request({ host, port, method, path, headers: all, agent: false }, resolve);
    sent.on('error', reject);
    sent.end(text);
  });
  let told = '';
  for await (const chunk of answer.setEncoding('utf8')) told += chunk;
  const isJson = /json/.test(answer.headers['content-type'] ?? '');
  const { statusCode: status = 0 } = answer;
  return { status, headers: answer.headers, text: told, body: isJson ? JSON.parse(told) : told };
}

async function digestOf(fleet: Fleet): Promise<string> {
  const reader = await fleet.store.openReader();
  try {
    const { tasks } = await reader.page({ filter: { terms: [] }, countMax: 500 });
    // What pods do by themselves is not what people changed.
    const rows = tasks.filter(({ machine }) => !machine.startsWith('recovery/'));
    const audit = await reader.audit({ countMax: 500 });
    const pods = (await reader.pods()).map(({ pod, desired, status }) => ({
      pod,
      desired,
      status,
    }));
    const schedules = await reader.schedules({ countMax: 500 });
    const text = JSON.stringify([rows, audit.rows, pods, schedules]);
    return createHash('sha256').update(text).digest('hex');
  } finally {
    await reader.close();
  }
}

/** Logs in, and answers what a browser would send from then on. */
export async function login(house: House, name: string): Promise<Record<string, string>> {
  const { body, headers } = await house.ask('POST', '/api/v1/session', {
    body: { token: house.secrets[name] },
  });
  const cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  return { cookie, 'x-fleetq-csrf': body.csrf };
}

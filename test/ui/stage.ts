/** A pod that has machines of every kind and a store, and answers on an address. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import {
  AdminServer,
  addressDoor,
  deskOf,
  hashOfSecret,
  newSecret,
} from '../../src/admin/index.ts';
import type { Grant, Role } from '../../src/config/index.ts';
import { systemClock, systemRandom } from '../../src/ground/index.ts';
import {
  createFleet,
  defineMachine,
  type EnqueueOptions,
  exponential,
  type Fleet,
  type Machine,
  openStore,
} from '../../src/index.ts';
import { gate } from '../support/fleets.ts';

/** Against hanging only. */
const PATIENCE_MS = 90_000;

const any = z.looseObject({});

function machines(opening: ReturnType<typeof gate<void>>) {
  const once = { attemptMax: 1, backoff: exponential('1ms') };
  return [
    defineMachine({
      name: 'ui/order',
      version: 1,
      input: any,
      check: () => undefined,
      work: ({ input }) => ({ ...input, total: 42 }),
      validate: () => undefined,
      persist: ({ work }) => work,
    }),
    defineMachine({
      name: 'ui/typed',
      version: 2,
      input: z.object({
        name: z.string().min(2).describe('who is greeted'),
        times: z.number().int().min(1).max(9),
        tone: z.enum(['warm', 'cool']).optional(),
        isLoud: z.boolean().default(false),
        more: z.array(z.string()).optional(),
      }),
      check: 'none',
      work: ({ input }) => `hello, ${input.name}`,
    }),
    defineMachine({
      name: 'ui/gated',
      version: 1,
      input: any,
      check: 'none',
      work: () => opening.opened.then(() => 'open'),
      persist: ({ work }) => work,
    }),
    defineMachine({
      name: 'ui/failing',
      version: 1,
      input: any,
      retry: once,
      check: 'none',
      work: ({ input }) => {
        const said = typeof input['said'] === 'string' ? input['said'] : 'no such bucket';
        throw new Error(said, { cause: new Error(`because of ${said}`) });
      },
    }),
    defineMachine({
      name: 'ui/strict',
      version: 1,
      input: z.strictObject({ n: z.number() }),
      retry: once,
      check: 'none',
      work: ({ input: { n } }) => {
        if (n < 0) throw new RangeError(`${n} is below zero`);
        return n;
      },
    }),
    defineMachine({
      name: 'ui/retrying',
      version: 1,
      input: any,
      retry: { attemptMax: 5, backoff: exponential('1h') },
      check: 'none',
      work: () => {
        throw new Error('the line is busy');
      },
    }),
  ];
}

export interface Stage {
  readonly fleet: Fleet;
  readonly server: AdminServer;
  readonly url: string;
  readonly opening: ReturnType<typeof gate<void>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** How many look on, and are told of what changes. */
  streams(): number;
  /** Done before its server ends: whoever still looks on would complain of being refused. */
  beforeStop(act: () => Promise<void>): void;
  stop(): Promise<void>;
}

export interface StageOptions {
  readonly hasStore?: boolean;
  readonly machines?: readonly Machine[];
  readonly grants?: readonly (readonly [name: string, role: Role, mayReveal: boolean])[];
}

export async function openStage(dataDir: string, options: StageOptions = {}): Promise<Stage> {
  const [clock, random] = [systemClock, systemRandom];
  const opening = gate<void>();
  const store =
    options.hasStore === false
      ? {}
      : {
          store: await openStore(`sqlite:${join(dataDir, 'fleet.db')}`, {
            clock,
            random,
            migrates: true,
          }),
        };
  const fleet = await createFleet({
    machines: [...machines(opening), ...(options.machines ?? [])],
    dataDir,
    socket: false,
    archive: '50ms',
    heartbeat: '100ms',
    silence: '20s',
    ...store,
  });
  const secrets: Record<string, string> = {};
  const grants = (options.grants ?? []).map(([name, role, mayReveal]): Grant => {
    secrets[name] = newSecret(random);
    return { name, role, mayReveal, hash: hashOfSecret(secrets[name]) };
  });
  const desk = deskOf({ fleet, clock, random, resultBytesMax: 1_000_000, redacted: [] });
  const server = new AdminServer(desk);
  const rate = { perSecond: 1e6, burst: 1e6 };
  const at = await server.listen('127.0.0.1', 0, addressDoor({ grants, clock, random, rate }));
  const closing: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const close of closing.splice(0)) await close();
    opening.open();
    await server.stop();
    await fleet.drain();
  };
  const beforeStop = (act: () => Promise<void>) => void closing.push(act);
  const streams = () => desk.live.size;
  return { fleet, server, url: `http://${at}`, opening, secrets, streams, beforeStop, stop };
}

/** Waits until the run, or the bulk operation, stands like this. */
export async function until(
  stage: Stage,
  id: string,
  status: string,
  of: 'runs' | 'bulk' = 'runs',
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await fetch(`${stage.url}/api/v1/${of}/${id}`);
    const run = (await answer.json()) as { readonly status: string };
    if (run.status === status) return;
    if (performance.now() > giveUpAt) throw new Error(`run ${id} is ${run.status}, not ${status}`);
    await sleep(20);
  }
}

/** A run that stands like this; answers its id. */
export async function made(
  stage: Stage,
  machine: string,
  status: string,
  input: object = {},
  options: EnqueueOptions = {},
): Promise<string> {
  const { id } = await stage.fleet.enqueueByName(machine, input, options);
  await until(stage, id, status);
  return id;
}

/** A change over the API; `as` says who asks, where that is asked. */
export async function post(
  stage: Stage,
  path: string,
  body: object,
  as: Readonly<Record<string, string>> = {},
): Promise<{ id: string }> {
  const headers = { 'content-type': 'application/json', ...as };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await fetch(`${stage.url}/api/v1${path}`, init)).json()) as { id: string };
}

/** Runs that have failed for good. */
export async function lettersOf(
  stage: Stage,
  count: number,
  input: object = {},
): Promise<string[]> {
  const made = Array.from({ length: count }, () => stage.fleet.enqueueByName('ui/failing', input));
  const ids = (await Promise.all(made)).map(({ id }) => id);
  for (const id of ids) await until(stage, id, 'failed');
  return ids;
}

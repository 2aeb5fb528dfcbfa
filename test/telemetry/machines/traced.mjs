/** Machines whose traces are looked at: some go well, some fail first, some die, one tells secrets. */
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import { defineMachine, exponential, handoff } from 'fleetq';
import * as z from 'zod';

const retry = { attemptMax: 9, backoff: exponential('20ms', { max: '50ms' }) };

/** Something of the author's own that is traced inside a phase. */
const called = (name) => trace.getTracer('author').startActiveSpan(name, (span) => span.end());

export const errand = defineMachine({
  name: 'errand',
  version: 1,
  input: z.object({ n: z.number(), ms: z.number().default(20) }),
  retry,
  check: async ({ input }) => {
    called('look');
    if (input.n % 10 === 7) return handoff({ n: input.n }, 'nothing to do');
  },
  work: async ({ input, attempt, progress }) => {
    called('call');
    progress(0.5);
    await sleep(input.ms);
    if (input.n % 5 === 3 && attempt === 1) throw new TypeError('the first time never works');
    return { n: input.n };
  },
  validate: () => undefined,
  persist: ({ work }) => work,
});

/** Stays in `work` until somebody says so; whoever begins it says that it has. */
export const stuck = defineMachine({
  name: 'stuck',
  version: 1,
  input: z.object({ begun: z.string(), go: z.string() }),
  retry,
  check: () => undefined,
  work: async ({ input, signal }) => {
    called('call');
    writeFileSync(input.begun, String(process.pid));
    while (!existsSync(input.go)) await sleep(20, undefined, { signal });
    return { pid: process.pid };
  },
  persist: ({ work }) => work,
});

export const telltale = defineMachine({
  name: 'telltale',
  version: 1,
  input: z.object({ secret: z.string() }),
  retry: { attemptMax: 2, backoff: exponential('1ms') },
  check: () => undefined,
  work: ({ input, progress, attempt }) => {
    progress(0.1, input.secret);
    if (attempt === 1) return { secret: input.secret };
    throw Object.assign(new Error(input.secret), { name: input.secret });
  },
  validate: ({ input }) => {
    const cause = new Error(`because of ${input.secret}`);
    throw Object.assign(new Error(`no: ${input.secret}`, { cause }), { code: input.secret });
  },
});

export const machines = [errand, stuck, telltale];

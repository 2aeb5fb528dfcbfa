/** zod, valibot and arktype alike: callers give what goes in, phases see what comes out. */
import { type } from 'arktype';
import {
  createFleet,
  defineMachine,
  handoff,
  type InputOf,
  type Machine,
  type OutputOf,
  proceed,
  type Run,
} from 'fleetq';
import * as v from 'valibot';
import * as z from 'zod';
import { same } from './same.ts';

const ofZod = defineMachine({
  name: 'zod',
  version: 1,
  input: z.object({
    at: z.string().transform((text) => new Date(text)),
    n: z.number().default(3),
  }),
  output: z.object({ at: z.coerce.date<string>() }),
  check: 'none',
  work: ({ input }) => {
    same<typeof input, { at: Date; n: number }>();
    return input.at.toISOString();
  },
  persist: ({ work }) => ({ at: work }),
});
same<InputOf<typeof ofZod>, { at: string; n?: number | undefined }>();
same<OutputOf<typeof ofZod>, { at: Date }>();

const ofValibot = defineMachine({
  name: 'valibot',
  version: 1,
  input: v.object({
    at: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
    ),
    n: v.optional(v.number(), 3),
  }),
  output: v.object({ s: v.string() }),
  check: ({ input }) => (input.n > 3 ? handoff({ s: 'x' }) : proceed),
  work: ({ input }) => {
    same<typeof input, { at: Date; n: number }>();
    return { s: input.at.toISOString() };
  },
});
same<InputOf<typeof ofValibot>, { at: string; n?: number | undefined }>();
same<OutputOf<typeof ofValibot>, { s: string }>();

const ofArktype = defineMachine({
  name: 'arktype',
  version: 1,
  input: type({ at: 'string.date.parse', n: 'number = 3' }),
  output: type({ s: 'string' }),
  check: 'none',
  work: async ({ input }) => {
    same<typeof input, { at: Date; n: number }>();
    return { s: input.at.toISOString() };
  },
});
same<InputOf<typeof ofArktype>, { at: string; n?: number }>();
same<OutputOf<typeof ofArktype>, { s: string }>();

const several = defineMachine({
  name: 'several',
  version: 1,
  input: type({ ids: 'string[]' }),
  steps: (line) =>
    line
      .step('begin', {
        check: 'none',
        output: z.object({ at: z.coerce.date<string>() }),
        work: ({ input }) => ({ at: input.ids.join() }),
      })
      .sleep('night', ({ state }) => {
        same<typeof state, { readonly begin: { at: Date } }>();
        return state.begin.at;
      })
      .step('end', { check: 'none', work: ({ state }) => state.begin.at.getTime() }),
});
same<OutputOf<typeof several>, number>();

// An output schema with a transform: phases give what goes in, result() gives what comes out.
const flag = z.object({ a: z.boolean() });
const output = z.object({
  status: z.enum(['new', 'old']),
  at: z.iso.datetime().transform((text) => new Date(text)),
});
const transformed = defineMachine({
  name: 'transformed',
  version: 1,
  input: flag,
  output,
  check: ({ input }) => (input.a ? handoff({ status: 'old', at: '2020' }) : proceed),
  work: async () => ({ n: 1 }),
  persist: async ({ work }) => ({ status: 'new' as const, at: String(work.n) }),
});
same<OutputOf<typeof transformed>, { status: 'new' | 'old'; at: Date }>();
const fromWork = defineMachine({
  name: 'from-work',
  version: 1,
  input: flag,
  output: z.object({ n: z.number() }),
  check: 'none',
  work: async () => ({ n: 1 }),
});
same<OutputOf<typeof fromWork>, { n: number }>();

const machines: Machine[] = [ofZod, ofValibot, ofArktype, several, transformed, fromWork];
export async function fleetUse(): Promise<void> {
  await using fleet = await createFleet({ machines });
  await fleet.startLocal(ofZod, { at: '2020-01-01' });
  // @ts-expect-error the schema takes a string in, and gives a Date out
  await fleet.startLocal(ofZod, { at: new Date() });
  // @ts-expect-error ids are strings
  await fleet.startLocal(several, { ids: [1] });
  // @ts-expect-error an erased machine takes no input: keep its type to start it
  await fleet.startLocal(machines[0]!, { at: 'x' });
  const startAll = <I, O>(machine: Machine<I, O>, inputs: readonly I[]) =>
    Promise.all(inputs.map((one) => fleet.startLocal(machine, one)));
  same<Awaited<ReturnType<typeof startAll<{ at: string }, number>>>, Run<number>[]>();
}

/** Literals widen, order does not matter where it can be helped, functions and lines can be lifted out. */
import {
  defineMachine,
  handoff,
  type Line,
  type OutputOf,
  proceed,
  type StepContext,
  type WorkedContext,
} from 'fleetq';
import * as z from 'zod';
import { same } from './same.ts';

const head = { name: 'l', version: 1, input: z.object({ a: z.boolean() }) } as const;
const text = { name: 'e', version: 1, input: z.object({ a: z.string() }) } as const;

// ── literals ────────────────────────────────────────────────────────────────────────────────────
const aNumber = defineMachine({ ...head, check: 'none', work: () => 1 });
same<OutputOf<typeof aNumber>, number>();
const aBoolean = defineMachine({
  ...head,
  check: ({ input }) => (input.a ? handoff({ cached: true }) : proceed),
  work: () => 'x',
  validate: ({ work }) => {
    same<typeof work, string>();
  },
  persist: () => ({ cached: false }),
});
same<OutputOf<typeof aBoolean>, { cached: boolean }>();
const aUnion = defineMachine({
  ...head,
  check: 'none',
  work: ({ input }) => (input.a ? { kind: 'a' as const, n: 1 } : { kind: 'b' as const, s: 's' }),
  persist: ({ work }) => (work.kind === 'a' ? work.n : work.s),
});
same<OutputOf<typeof aUnion>, string | number>();
const aPromisedUnion = defineMachine({
  ...text,
  check: 'none',
  work: async ({ input }) =>
    input.a ? { ok: true as const, v: 1 } : { ok: false as const, why: 'x' },
  persist: ({ work }) => (work.ok ? work.v : work.why),
});
same<OutputOf<typeof aPromisedUnion>, string | number>();
const aNull = defineMachine({
  ...head,
  check: ({ input }) => (input.a ? handoff(null) : proceed),
  work: async () => {},
  validate: ({ work }) => {
    same<typeof work, void>();
  },
  persist: async ({ work }) => {
    void work;
    return null;
  },
});
same<OutputOf<typeof aNull>, null>();
const aVoid = defineMachine({ ...head, check: 'none', work: () => 1, persist: () => {} });
same<OutputOf<typeof aVoid>, void>();
const ofMethods = defineMachine({
  ...head,
  check: 'none',
  async work() {
    return { w: 1 };
  },
  validate({ work }) {
    same<typeof work, { w: number }>();
  },
  async persist({ work }) {
    return { out: work.w };
  },
});
same<OutputOf<typeof ofMethods>, { out: number }>();

// ── order ───────────────────────────────────────────────────────────────────────────────────────
const checkLast = defineMachine({
  ...text,
  work: ({ input }) => ({ n: input.a.length }),
  persist: ({ work }) => ({ m: work.n }),
  check: ({ input }) => (input.a ? handoff({ m: 1 }) : proceed),
});
same<OutputOf<typeof checkLast>, { m: number }>();
const inputLast = defineMachine({
  name: 'e',
  version: 1,
  check: 'none',
  work: ({ input }) => ({ n: input.a.length }),
  persist: ({ work }) => work.n,
  validate: ({ work }) => {
    same<typeof work, { n: number }>();
  },
  input: z.object({ a: z.string() }),
});
same<OutputOf<typeof inputLast>, number>();

// ── extracted functions ─────────────────────────────────────────────────────────────────────────
const work = async ({ input }: StepContext<{ a: string }, {}>) => ({ n: input.a.length });
const persist = ({ work }: WorkedContext<{ a: string }, {}, { n: number }>) => work.n > 1;
const extracted = defineMachine({
  ...text,
  check: 'none',
  work,
  validate: ({ work }) => {
    same<typeof work, { n: number }>();
  },
  persist,
});
same<OutputOf<typeof extracted>, boolean>();
declare const maybe: number | undefined;
export const undefinedPolicies = defineMachine({
  ...text,
  retry: { attemptMax: maybe, backoff: undefined },
  timeout: { work: maybe, run: undefined },
  check: 'none',
  validate: undefined,
  persistIn: undefined,
  work,
});

// ── lines ───────────────────────────────────────────────────────────────────────────────────────
export const anEmptyLine = () => defineMachine({ ...text, steps: (line) => line });
same<OutputOf<ReturnType<typeof anEmptyLine>>, never>();
const notify = <I, S extends { readonly publish: { url: string } }, O, A>(line: Line<I, S, O, A>) =>
  line;
const ofFragment = defineMachine({
  ...text,
  steps: (line) =>
    notify(line.step('publish', { check: 'none', work: () => ({ url: 'x' }) })).step('end', {
      check: 'none',
      work: ({ state }) => state.publish.url,
    }),
});
same<OutputOf<typeof ofFragment>, string>();
defineMachine({
  ...text,
  // @ts-expect-error the fragment wants a step called publish before it
  steps: (line) => notify(line.step('print', { check: 'none', work: () => ({ url: 'x' }) })),
});
const trailingSleep = defineMachine({
  ...text,
  steps: (line) => line.step('a', { check: 'none', work: () => 1 }).sleep('rest', '1m'),
});
same<OutputOf<typeof trailingSleep>, number>();
const states = defineMachine({
  ...text,
  steps: (line) =>
    line
      .step('a', { check: 'none', work: () => 1, persist: () => 'one' })
      .step('b', {
        check: ({ state }) => {
          same<typeof state, { readonly a: string }>();
        },
        work: ({ state }) => state.a.length,
        validate: ({ state, work }) => {
          same<typeof state, { readonly a: string }>();
          same<typeof work, number>();
        },
      })
      .step('c', {
        check: 'none',
        work: ({ state }) => {
          same<typeof state, { readonly a: string; readonly b: number }>();
          return state;
        },
      }),
});
same<OutputOf<typeof states>, { readonly a: string; readonly b: number }>();

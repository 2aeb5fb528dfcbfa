/** Results have to be JSON: nine that are, and twelve that are not. */
import { defineMachine, type Json } from 'fleetq';
import * as z from 'zod';

const base = { name: 'a', version: 1, input: z.object({}), check: 'none' } as const;
interface Row {
  id: string;
  tags: string[];
  extra?: Json;
}
declare const row: Row;
declare const rows: readonly Row[];
declare const json: Json;

export const good = () => [
  defineMachine({ ...base, work: () => row }),
  defineMachine({ ...base, work: async () => rows }),
  defineMachine({ ...base, work: async () => json }),
  defineMachine({ ...base, work: async () => {} }),
  defineMachine({ ...base, work: async () => [1, 'a'] as const, persist: () => undefined }),
  defineMachine({ ...base, work: () => (row.id ? { a: 1 } : { b: 2 }) }),
  defineMachine({ ...base, work: async () => JSON.parse('1') }),
  defineMachine({ ...base, work: async () => 'x' }),
  defineMachine({ ...base, work: async () => null }),
];

export const bad = () => [
  // @ts-expect-error a Date in an object
  defineMachine({ ...base, work: async () => ({ at: new Date() }) }),
  // @ts-expect-error a bigint, deep inside
  defineMachine({ ...base, work: () => ({ deep: [{ n: 1n }] }) }),
  // @ts-expect-error a function in an object
  defineMachine({ ...base, work: () => ({ f: () => 1 }) }),
  // @ts-expect-error a Map
  defineMachine({ ...base, work: () => ({ m: new Map<string, number>() }) }),
  // @ts-expect-error binary data
  defineMachine({ ...base, work: async () => ({ b: Buffer.from('x') }) }),
  // @ts-expect-error unknown
  defineMachine({ ...base, work: async (): Promise<unknown> => 1 }),
  // @ts-expect-error a Date itself
  defineMachine({ ...base, work: () => new Date() }),
  // @ts-expect-error a bigint itself
  defineMachine({ ...base, work: () => 1n }),
  // @ts-expect-error a function itself
  defineMachine({ ...base, work: () => () => 1 }),
  defineMachine({
    ...base,
    work: () => ({ a: 1 }),
    // @ts-expect-error a Date from persist
    persist: async ({ work }) => ({ at: new Date(work.a) }),
  }),
  // @ts-expect-error unknown in an object
  defineMachine({ ...base, work: ({ input }) => ({ u: input as unknown }) }),
  // @ts-expect-error a Date in an array
  defineMachine({ ...base, work: async () => [new Date()] }),
];

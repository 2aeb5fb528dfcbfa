/** Machines for pictures. What they take and how they fail is told by their input, and not by chance. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { defineMachine, defineThrottle, exponential, type Machine } from '../../../src/index.ts';

/** Within a third of so much, by a number. */
const about = (ms: number, n: number) => Math.round(ms * (0.7 + ((n * 37) % 60) / 100));

/** One API with a limit that is declared, and one whose limit is found out. */
export const throttles = [
  defineThrottle('model', { limits: { inFlight: 8 } }),
  defineThrottle('hooks.example', { adaptive: true }),
];

export function machines(): Machine[] {
  const image = z.object({
    ref: z.string().min(3).describe('the image, with its tag'),
    n: z.number().int().min(0),
    platform: z.enum(['linux/amd64', 'linux/arm64']).optional(),
    isForced: z.boolean().default(false).describe('also where it is there already'),
    labels: z.record(z.string(), z.string()).optional(),
  });
  return [
    defineMachine({
      name: 'image/pull',
      version: 3,
      input: image,
      retry: { attemptMax: 4, backoff: exponential('150ms') },
      steps: (line) =>
        line
          .step('fetch', {
            check: ({ input }) => sleep(about(12, input.n)).then(() => undefined),
            work: ({ input, attempt }) =>
              sleep(about(160, input.n)).then(() => {
                if (input.n % 6 === 1 && attempt < 2)
                  throw new Error('the registry closed the connection');
                return { layers: 3 + (input.n % 5), bytes: 1_000_003 * (input.n + 1) };
              }),
            validate: ({ input }) => sleep(about(20, input.n)).then(() => undefined),
          })
          .step('unpack', {
            check: 'none',
            work: ({ input }) =>
              sleep(about(90, input.n + 3)).then(() => ({ root: `/var/lib/${input.ref}` })),
            persist: ({ work, input }) => sleep(about(14, input.n)).then(() => work),
          }),
    }),
    defineMachine({
      name: 'payment/capture',
      version: 7,
      input: z.object({ order: z.string(), cents: z.number().int().min(1), n: z.number() }),
      retry: { attemptMax: 2, backoff: exponential('100ms') },
      check: ({ input }) => sleep(about(18, input.n)).then(() => undefined),
      work: ({ input }) =>
        sleep(about(70, input.n)).then(() => {
          if (input.n % 9 === 4) {
            const cause = Object.assign(new Error('HTTP 402'), { code: 'CARD_DECLINED' });
            throw new Error(`the card for ${input.order} was declined`, { cause });
          }
          return { captured: input.cents };
        }),
      validate: ({ input }) => sleep(about(9, input.n)).then(() => undefined),
      persist: ({ work, input }) => sleep(about(11, input.n)).then(() => work),
    }),
    defineMachine({
      name: 'llm/answer',
      version: 2,
      input: z.object({ question: z.string(), n: z.number() }),
      retry: { attemptMax: 5, backoff: exponential('40s') },
      check: 'none',
      work: ({ input, signal, use }) => {
        if (input.n % 5 === 2) throw new Error('the model is overloaded');
        const ms = input.n % 4 === 0 ? 600_000 : about(420, input.n);
        return use('model', () => sleep(ms, { tokens: 400 + input.n }, { signal }));
      },
      persist: ({ work, input }) => sleep(about(12, input.n)).then(() => work),
    }),
    defineMachine({
      name: 'webhook/deliver',
      version: 1,
      input: z.object({ url: z.string(), n: z.number() }),
      retry: { attemptMax: 1, backoff: exponential('100ms') },
      check: 'none',
      work: ({ input, use }) =>
        use('hooks.example', () => sleep(about(35, input.n))).then(() => {
          if (input.n % 4 === 3)
            throw Object.assign(new Error(`${input.url} answered 502`), { code: 'E_GATEWAY' });
          return { status: 204 };
        }),
    }),
  ];
}

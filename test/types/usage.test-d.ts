/** The whole public surface on one page, as a user writes it. Compiled, never run. */
import {
  createFleet,
  defineMachine,
  exponential,
  handoff,
  type InputOf,
  type OutputOf,
  openStore,
  proceed,
  type Store,
  type StoreOptions,
  type TaskRow,
} from 'fleetq';
import * as z from 'zod';
import { same } from './same.ts';

declare const cdn: {
  find(of: { src: string }): Promise<{ url: string } | null>;
  publish(file: string, key: string): Promise<string>;
};
declare const resizer: {
  resize(
    of: { src: string; width: number },
    options: { signal: AbortSignal },
  ): Promise<{ file: string; width: number }>;
};
declare const list: (id: string) => Promise<string[]>;

export const resizeImage = defineMachine({
  name: 'resize-image',
  version: 1,
  input: z.object({ src: z.url(), width: z.number().int().positive() }),
  retry: {
    attemptMax: 5,
    backoff: exponential('200ms', { max: '30s' }),
    persist: { attemptMax: 9 },
  },
  timeout: { work: '2m', run: '1h' },
  check: async ({ input }) => {
    const hit = await cdn.find(input);
    return hit && handoff({ url: hit.url }, 'already resized');
  },
  work: async ({ input, use, signal }) =>
    use('resizer', () => resizer.resize(input, { signal }), { priority: 'high' }),
  validate: async ({ input, work }) => {
    if (work.width !== input.width) throw new Error('wrong width');
  },
  persist: async ({ work, idempotencyKey, fencingToken, log, progress }) => {
    progress(0.5, 'publishing');
    log.info('publishing', { fencingToken });
    return { url: await cdn.publish(work.file, idempotencyKey) };
  },
});
same<InputOf<typeof resizeImage>, { src: string; width: number }>();
same<OutputOf<typeof resizeImage>, { url: string }>();

const Ping = z.object({ host: z.string() });
export const ping = defineMachine({
  name: 'ping',
  version: 1,
  input: Ping,
  check: 'none',
  work: ({ input }) => ({ at: input.host }),
});

export const album = defineMachine({
  name: 'album',
  version: 2,
  input: z.object({ id: z.string() }),
  retry: { attemptMax: 3 },
  timeout: { run: '2d' },
  steps: (line) =>
    line
      .step('download', {
        check: 'none',
        retry: { attemptMax: 7 },
        timeout: { work: '10m' },
        work: async ({ input }) => ({ files: await list(input.id) }),
      })
      .sleep('cool-down', '5m')
      .sleep('night', ({ state }) => (state.download.files.length > 9 ? '1h' : new Date(0)))
      .step('publish', {
        check: ({ state }) =>
          state.download.files.length > 0 ? proceed : handoff({ count: 0 }, 'nothing there'),
        work: ({ state }) => state.download.files.map((file) => `https://${file}`),
        persistIn: 'store',
        persist: async ({ work, tx }) => {
          await tx.query('insert …', [work]);
          return { count: work.length };
        },
      }),
});
same<OutputOf<typeof album>, { count: number }>();

export async function use(): Promise<number> {
  await using fleet = await createFleet({
    machines: [resizeImage, ping, album],
    dataDir: './data',
  });
  const run = await fleet.startLocal(album, { id: 'summer' }, { key: 'summer' });
  const { count } = await run.result({ timeout: '1h' });
  return count;
}

/** A tool beside the fleet: nothing but an address is needed. */
export async function look(address: string): Promise<readonly TaskRow[]> {
  const options: StoreOptions = { isPooled: true, listenUrl: address, deadlineMs: 2_000 };
  const stores: readonly Store[] = [await openStore(address), await openStore(address, options)];
  const failed = await stores[0]!.list({ isDeadLetter: true, countMax: 10 });
  for (const store of stores) await store.close();
  return failed;
}

/**
 * Works off what people do to many tasks at once, page by page. All that it knows is in the row of the
 * operation: whoever goes on after a crash does the page in hand again, under the same request ids, so
 * each task is changed once and counted once. A task that refuses is no failure of it; a store that is
 * away is, and is tried again.
 */
import { type Bulks, defineMachine, exponential } from 'fleetq';
import * as z from 'zod';

/** A shift is about a minute, and a page at least some milliseconds. */
const TURNS_MAX = 100_000;

export const bulk = (bulks: Bulks) =>
  defineMachine({
    name: 'fleet/bulk',
    version: 1,
    input: z.object({ bulk: z.string() }),
    retry: { attemptMax: 30, backoff: exponential('500ms', { max: '30s' }) },
    timeout: { work: '10m' },
    check: 'none',
    work: async ({ input, runId, fencingToken, attempt, signal, progress }) => {
      const of = { bulk: input.bulk, run: runId, token: fencingToken, attempt };
      const ended = await bulks.work(of, async (shift) => {
        for (let turns = 0; turns < TURNS_MAX; turns++) {
          const isMore = await shift.turn(signal);
          const { status, found, done, requested, already, refused, expected } = shift.progress;
          const acted = done + requested + already + refused;
          progress(Math.min(1, acted / Math.max(1, expected ?? found)), `${acted} of them`);
          if (!isMore) return { status, acted };
          signal.throwIfAborted();
          if (!shift.isOver) continue;
          await shift.handOver();
          return { status: 'handed over', acted };
        }
        throw new Error(`${TURNS_MAX} pages were not enough for one shift`);
      });
      return ended ?? { status: 'not for this run any more', acted: 0 };
    },
  });

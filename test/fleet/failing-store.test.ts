/** A store that fails now and then: it is asked again, and nothing is lost or done twice. */
import { expect, test } from 'vitest';
import { pause } from '../../src/ground/index.ts';
import type { Store } from '../../src/store/index.ts';
import { never } from '../support/fleets.ts';
import { Script, twoSteps } from './script.ts';
import { STEADY_MS, useTestFleets } from './support.ts';

const { startFleet, hear } = useTestFleets();

const VERBS = [
  'claim',
  'settle',
  'archive',
  'beat',
  'histories',
] as const satisfies readonly (keyof Store)[];

test.each(VERBS)(
  'a store that fails at %s is asked again, and the task ends once',
  async (verb) => {
    const script = new Script();
    const machine = twoSteps(script);
    const { clock, startPod, row } = startFleet();
    const options = { machines: [machine], around: script.around, archive: '100ms' } as const;
    const failed = hear('store.failed');
    const first = await startPod('first', options);
    script.holds.set('b.work', never());
    const { id } = await first.fleet.enqueue(machine, {});
    await clock.advance(1_000);
    first.crash();
    script.holds.clear();
    // Long enough for an archive.
    script.holds.set('b.validate', pause(clock, STEADY_MS + 20_000));
    const next = await startPod('next', options);
    const original = next.store[verb] as (...given: unknown[]) => Promise<unknown>;
    let failures = 3;
    Object.assign(next.store, {
      [verb]: async (...given: unknown[]) => {
        const isEmpty = Array.isArray(given[0]) && given[0].length === 0;
        if (!isEmpty && failures-- > 0) throw new Error('connection reset');
        return original(...given);
      },
    });
    await clock.advance(STEADY_MS + 60_000);
    expect(await row(id)).toMatchObject({ status: 'completed', result: '{"by":"b.persist"}' });
    expect(script.count('a.work')).toBe(1);
    expect(script.count('b.persist')).toBe(1);
    expect(failed.length).toBeGreaterThan(0);
  },
);

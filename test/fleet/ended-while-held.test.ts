/** A run that has ended says so at once, although its row waits until the store has its end. */
import { expect, test } from 'vitest';
import { listRuns } from '../../src/admin/index.ts';
import { summarise } from '../../src/engine/summary.ts';
import type { RunId } from '../../src/ground/index.ts';
import { abort, defineMachine } from '../../src/index.ts';
import type { StoredRecord } from '../../src/journal/index.ts';
import { gate } from '../support/fleets.ts';
import { anyInput, useTestFleets, type Wire } from './support.ts';

const { startFleet } = useTestFleets();

const fits = defineMachine({
  name: 'fits',
  version: 1,
  input: anyInput,
  check: 'none',
  work: () => ({ by: 'work' }),
});
const fails = defineMachine({
  name: 'fails',
  version: 1,
  input: anyInput,
  check: 'none',
  work: () => abort('it cannot be done'),
});
const stays = defineMachine({
  name: 'stays',
  version: 1,
  input: anyInput,
  check: 'none',
  work: () => new Promise<never>(() => undefined),
});

/** Every answer of the store to a settlement is on its way. */
function withholdSettlements(wire: Wire) {
  const { opened, open } = gate();
  wire.holdsAnswers.set('settle', opened);
  return open;
}

test.each([
  [
    'completes',
    fits,
    { status: 'completed', outcome: 'completed', state: 'main.work', output: { by: 'work' } },
  ],
  ['is aborted', fails, { status: 'failed', outcome: 'aborted', state: 'main.work' }],
])('a held run that %s says so before the store does', async (_, machine, told) => {
  const { clock, startPod } = startFleet();
  const { fleet, wire } = await startPod('one', { machines: [machine] });
  const answer = withholdSettlements(wire);
  const { id } = await fleet.enqueue(machine, {});
  await clock.advance(1_000);
  const shown = fleet.describe(id);
  expect(shown).toMatchObject({ ...told, generation: 1 });
  expect(shown.finishedAt).toBe(shown.updatedAt);
  answer();
});

test('a list of unfinished runs leaves out the ended ones, and finds all others behind them', async () => {
  const { clock, startPod } = startFleet();
  const { fleet, wire } = await startPod('one', { machines: [fits, stays] });
  const answer = withholdSettlements(wire);
  const ids: RunId[] = [];
  for (const machine of [stays, stays, fits, fits, fits]) {
    const { id } = await fleet.enqueue(machine, {});
    ids.push(id);
    await clock.advance(1_000);
  }
  const listed = (countMax: number, status?: string) =>
    listRuns(fleet, { status, countMax }).map(({ id }) => id);
  expect(listed(10)).toEqual(ids.toReversed());
  for (const status of ['unfinished', 'active']) {
    expect(listed(10, status)).toEqual([ids[1], ids[0]]);
    expect(listed(1, status)).toEqual([ids[1]]);
  }
  answer();
});

test('a run whose last record is sealed has ended as its state says, and its output stays unknown', () => {
  const sealed = (state: string, seq: number) =>
    ({ seq, at: seq, state, event: { sealed: 'its key is not here' } }) as unknown as StoredRecord;
  const id = '01JZZZZZZZZZZZZZZZZZZZZZZ0' as RunId;
  const row = { id, machine: 'fits', version: 1, startedAt: 0 };
  const records = [sealed('main.work', 0), sealed('failed', 1)];
  const shown = summarise({ ...row, generation: 1 } as never, records, 5);
  expect(shown).toMatchObject({ status: 'failed', state: 'failed', finishedAt: 1 });
  expect([shown.outcome, shown.output]).toEqual([undefined, undefined]);
});

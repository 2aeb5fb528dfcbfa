/**
 * What must hold after any crash, from two sides: the outside ledger says what really happened, the
 * store says what counts. One outcome, no archived phase repeated, nothing lost.
 */
import { expect } from 'vitest';
import { rowsOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { identityCodec, type StoredRecord } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import { type LedgerLine, readLedger } from '../../test/support/ledger.ts';
import type { Ground } from './rig.ts';
import type { Disk } from './table.ts';

function placesOf(steps: readonly string[]): string[] {
  return steps.flatMap((step) =>
    ['check', 'work', 'validate', 'persist'].map((phase) => `${step}.${phase}`),
  );
}

interface Execution {
  readonly place: string;
  readonly epoch: number;
}

/** Which phases the accepted history has, and under which epoch each was recorded. */
function recordedIn(records: readonly StoredRecord[]): Execution[] {
  const recorded: Execution[] = [];
  let place = records[0]!.state;
  for (const { event, state, epoch } of records.slice(1)) {
    // Nobody executes a sleep.
    if (event.type === 'DONE' && !place.endsWith('.sleep')) recorded.push({ place, epoch });
    place = state;
  }
  return recorded;
}

/** Places at which an owner was cut off, with the epoch that found it out. */
function interruptedIn(records: readonly StoredRecord[]): Execution[] {
  return records.flatMap(({ event, state, epoch }) =>
    event.type === 'INTERRUPTED' ? [{ place: state, epoch }] : [],
  );
}

export async function historyOf(ground: Ground, task: RunId): Promise<StoredRecord[]> {
  const segments = await ground.store.histories([{ task, generation: 1 }]);
  const [row] = await ground.store.find([task]);
  // Verifies order, holes, forks and every hash.
  return decodeRows(task, rowsOf(task, segments, row?.lastHash), identityCodec);
}

function judgeTask(
  records: readonly StoredRecord[],
  lines: readonly LedgerLine[],
  disk: Disk,
  steps: readonly string[],
) {
  const recorded = recordedIn(records);
  expect(recorded.map(({ place }) => place)).toEqual(placesOf(steps));
  const done = lines.filter(({ outcome, phase }) => outcome === 'done' && phase !== 'probe');
  const at = (place: string) =>
    done.filter(({ step, phase }) => `${step}.${phase}` === place).map((line) => line.fencingToken);
  for (const { place, epoch } of recorded) {
    const epochs = at(place);
    expect(
      epochs.filter((one) => one === epoch),
      `${place} was executed once under the epoch that recorded it`,
    ).toHaveLength(1);
    expect(
      epochs.filter((one) => one > epoch),
      `${place} was archived, and executed again`,
    ).toEqual([]);
  }
  if (disk === 'kept') judgeRepeats(records, recorded, at);
  judgeKeys(lines);
  judgeProbes(records, lines);
  judgeAsked(lines);
}

/** With its disk, nothing is repeated but what was cut off in the middle. */
function judgeRepeats(
  records: readonly StoredRecord[],
  recorded: readonly Execution[],
  at: (place: string) => readonly number[],
): void {
  const interrupted = interruptedIn(records);
  for (const { place, epoch } of recorded) {
    const earlier = at(place).filter((one) => one < epoch);
    const explained = earlier.filter((one) =>
      interrupted.some((cut) => cut.place === place && cut.epoch > one),
    );
    expect(earlier, `${place} was repeated without having been cut off`).toEqual(explained);
  }
}

function judgeKeys(lines: readonly LedgerLine[]): void {
  const keys = new Map<string, string>();
  for (const { step, phase, idempotencyKey } of lines) {
    const place = `${step}.${phase === 'probe' ? 'check' : phase}`;
    expect(keys.get(place) ?? idempotencyKey, `the key of ${place}`).toBe(idempotencyKey);
    keys.set(place, idempotencyKey);
  }
}

/** I41: where work or persist was cut off, the first thing that happens to it is a probe. */
function judgeProbes(records: readonly StoredRecord[], lines: readonly LedgerLine[]): void {
  for (const { place, epoch } of interruptedIn(records)) {
    if (!/\.(work|persist)$/.test(place)) continue;
    const first = lines.find((line) => line.fencingToken >= epoch);
    expect(first?.phase, `${place} was cut off, says epoch ${epoch}`).toBe('probe');
  }
}

/** I41 from outside: nobody begins work or persist anew, under a later epoch, without having asked. */
function judgeAsked(lines: readonly LedgerLine[]): void {
  const begun = new Map<string, LedgerLine>();
  const asked = new Map<string, number>();
  for (const line of lines) {
    const { step, phase, fencingToken: epoch } = line;
    if (phase === 'check' || phase === 'probe') asked.set(step, epoch);
    if (!['work', 'persist'].includes(phase) || line.outcome !== 'half') continue;
    const before = begun.get(`${step}.${phase}`);
    if (before && before.fencingToken < epoch) {
      const since = asked.get(step) ?? 0;
      expect(since, `${step}.${phase} was begun again unasked`).toBeGreaterThan(
        before.fencingToken,
      );
    }
    begun.set(`${step}.${phase}`, line);
  }
}

/** All tasks of the machine have ended well, once each, and the tables keep their rules. */
export async function judge(
  ground: Ground,
  machine: string,
  disk: Disk,
  count = 1,
  steps: readonly string[] = ['a', 'b'],
): Promise<void> {
  const rows = await ground.rows(machine);
  expect(rows, 'none lost, none invented').toHaveLength(count);
  const ledger = readLedger(ground.ledger);
  for (const row of rows) {
    expect(row).toMatchObject({ status: 'completed', outcome: 'completed', generation: 1 });
    expect(JSON.parse(row.result!)).toMatchObject({ by: `${steps.at(-1)}.persist` });
    const lines = ledger.filter(({ run }) => run === row.id);
    judgeTask(await historyOf(ground, row.id), lines, disk, steps);
  }
  expect(await ground.store.violations()).toEqual([]);
}

/** How often something was executed to its end, whoever did it. */
export function countOf(ground: Ground, run: string, place: string): number {
  return readLedger(ground.ledger).filter(
    (line) => line.run === run && `${line.step}.${line.phase}` === place && line.outcome === 'done',
  ).length;
}

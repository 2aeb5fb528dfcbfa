/** Files in which runs have changed their version are read as they were written, by this build and later ones. */
import { chmodSync, cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rowsOf } from '../../src/fleet/index.ts';
import type { RunId } from '../../src/ground/index.ts';
import { identityCodec } from '../../src/journal/index.ts';
import { decodeRows } from '../../src/journal/record.ts';
import { foldRecords, type Plan, planOf } from '../../src/machine/index.ts';
import type { Segment } from '../../src/store/index.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { kinds, useFleets } from '../support/fleets.ts';
import { type Fixed, fixed, GROWN, PLAIN, REMADE } from './kept-versions.ts';

const FIXTURES = fileURLToPath(new URL('../fixtures/', import.meta.url));
/** Shortly after it was written. */
const WRITTEN_AT = Date.UTC(2026, 10, 15, 20);
const IDS = {
  done: '01M7GCQ4G06RHN69SJD169RC2F',
  held: '01M7GCQ4G047C4FEZDQK8YZG0M',
  advanced: '01M7GCQ4G047C4FEZDQK8YZG0N',
  upgraded: '01M7GCQ4G047C4FEZDQK8YZG0P',
};

const { newDir, open, hear } = useFleets();

/** The file is opened as it was left, by code that has these. */
async function opened(...machines: Fixed[]) {
  const dataDir = newDir();
  cpSync(join(FIXTURES, 'journal-versions'), dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  for (const name of ['journal.db', 'journal.mark']) chmodSync(join(dataDir, name), 0o600);
  const [calls, alarms] = [[] as string[], hear('journal.alarm')];
  const rig = await open({
    machines: machines.map((machine) => fixed(machine, calls)),
    dataDir,
    clock: new FakeClock(WRITTEN_AT),
  });
  await rig.clock.advance(60_000);
  expect(alarms).toEqual([]);
  return { ...rig, calls };
}

test('runs of a kept journal go on under the version that they had come to', async () => {
  const { fleet, calls } = await opened(PLAIN, GROWN[1]!, REMADE[1]!);
  expect(kinds(fleet, IDS.advanced).slice(0, 7)).toEqual([
    ...['STARTED', 'DONE', 'DONE', 'DONE', 'ADVANCED', 'INTERRUPTED', 'PROBED'],
  ]);
  expect(kinds(fleet, IDS.upgraded).slice(4, 6)).toEqual(['UPGRADED', 'DONE']);
  const ends = { held: 'second by 1', advanced: 'third by 2', upgraded: 'end by 2' };
  for (const [name, output] of Object.entries(ends)) {
    const id = IDS[name as keyof typeof IDS];
    expect(fleet.describe(id), name).toMatchObject({ status: 'completed', output });
  }
  expect(fleet.describe(IDS.done)).toMatchObject({ status: 'completed', version: 1 });
  // What was recorded is not done again, of whichever version.
  expect(calls.filter((call) => /first|begin/.test(call))).toEqual([]);
});

test('none of them goes back to the version it was born with', async () => {
  const { fleet, calls } = await opened(PLAIN, GROWN[0]!, REMADE[0]!);
  for (const id of [IDS.advanced, IDS.upgraded]) {
    const reason = expect.stringMatching(/no run goes back to an older version$/);
    expect(fleet.describe(id)).toMatchObject({ status: 'blocked', version: 2, reason });
  }
  expect(calls.filter((call) => !call.endsWith('held'))).toEqual([]);
});

interface KeptTask {
  readonly task: RunId;
  readonly machine: string;
  readonly version: number;
  readonly lastHash: string;
  readonly result: string;
  readonly segments: readonly Segment[];
}

const segments = JSON.parse(
  readFileSync(join(FIXTURES, 'segments-1', 'segments.json'), 'utf8'),
) as KeptTask[];
const planFor = ({ machine, version }: KeptTask): Plan =>
  planOf(
    fixed(
      [PLAIN, ...GROWN, ...REMADE].find(
        (one) => `fixture/${one.name}` === machine && one.version === version,
      )!,
      [],
    ) as never,
  )!;

test.each(segments)('kept segments of $machine@$version lead to where they led', (kept) => {
  const records = decodeRows(
    kept.task,
    rowsOf(kept.task, kept.segments, kept.lastHash),
    identityCodec,
  );
  const folded = foldRecords(planFor(kept), records);
  expect(folded).toMatchObject({ state: { ending: { outcome: 'completed' } } });
  const { ending } = (folded as Exclude<typeof folded, string>).state;
  expect(JSON.stringify(ending?.output)).toBe(kept.result);
  const moves = records.map(({ event }) => event.type).filter((type) => /^(ADV|UPG)/.test(type));
  expect(moves).toEqual(kept.version === 1 ? [] : [expect.any(String)]);
});
